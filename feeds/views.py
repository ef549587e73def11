"""Pages of the feed: the list with its filters, one post, and the sources with their health. HTTP only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.formats import date_format
from django.views.decorators.http import require_safe

from feeds import selectors
from feeds.models import Post, Source, Topic


@dataclass(frozen=True, slots=True)
class Link:
    """A filter or page link: its address within the list, and whether it is the one that applies."""

    text: str
    href: str
    count: int
    current: bool


@require_safe
def post_list(request: HttpRequest) -> HttpResponse:
    wanted = {name: request.GET.get(name, "") for name in ("topic", "source")}
    try:
        found = selectors.listing(**wanted, page=request.GET.get("page", "1"))
    except (Source.DoesNotExist, Topic.DoesNotExist):
        raise Http404("There is no such source or topic in the feed.") from None

    def links(name: str, everything: str, choices: list[selectors.Choice]) -> list[Link]:
        total = Link(everything, address(wanted | {name: ""}), 0, not wanted[name])
        return [total] + [
            Link(choice.name, address(wanted | {name: choice.slug}), choice.count, wanted[name] == choice.slug)
            for choice in choices
        ]

    page = found.page
    posts = list(page)
    context = {
        "found": found,
        "posts": posts,
        "days": by_day(posts),
        "topics": links("topic", "All topics", found.topics),
        "sources": links("source", "All sources", found.sources),
        "newer": address(wanted | {"page": str(page.previous_page_number())}) if page.has_previous() else "",
        "older": address(wanted | {"page": str(page.next_page_number())}) if page.has_next() else "",
        "all_samples": bool(posts) and all(post.source.is_sample for post in posts),
    }
    return render(request, "feeds/list.html", context)


@require_safe
def post(request: HttpRequest, pk: int) -> HttpResponse:
    try:
        found = selectors.post(pk)
    except Post.DoesNotExist:
        raise Http404("This post is not in the feed, or not any more.") from None
    also_in = [seen.source for seen in found.appearances.all() if seen.source_id != found.source_id]
    context = {"post": found, "also_in": also_in, "neighbours": selectors.neighbours(found)}
    return render(request, "feeds/post.html", context)


@require_safe
def sources(request: HttpRequest) -> HttpResponse:
    found = list(selectors.sources_with_health())
    waiting = [s for s in found if s.state == Source.State.UNVERIFIED]
    resting = [s for s in found if s.state in (Source.State.PAUSED, Source.State.GONE)]
    read = [s for s in found if s not in waiting and s not in resting]
    groups = [
        ("Being read", "Fetched at their own pace, and asked only whether something is new.", read),
        ("Not fetched yet", "On our list; an editor starts each of them by hand.", waiting),
        ("At rest", "Paused by an editor, or gone.", resting),
    ]
    return render(request, "feeds/sources.html", {"groups": [group for group in groups if group[2]]})


def address(wanted: dict[str, str]) -> str:
    """The query of a filter link: only what differs from the plain list."""
    return "?" + urlencode({name: value for name, value in wanted.items() if value and (name, value) != ("page", "1")})


def by_day(posts: Iterable[Post]) -> list[tuple[str, list[Post]]]:
    """Posts in groups under the name of their day, pinned ones first; the order inside is kept."""
    today = timezone.localdate()

    def heading(post: Post) -> str:
        return "Pinned" if post.pinned else name_of_day(timezone.localdate(post.sort_at), today)

    return [(name, list(group)) for name, group in groupby(posts, heading)]


def name_of_day(day: date, today: date) -> str:
    """Today, Yesterday, or the date; with the year only where it is another one."""
    days = (today - day).days
    if days in (0, 1):
        return ("Today", "Yesterday")[days]
    return date_format(day, "j F" if day.year == today.year else "j F Y")
