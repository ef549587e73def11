"""Reads of the feed, for its own pages and for other rooms."""

from __future__ import annotations

from dataclasses import dataclass

from django.core.paginator import Page, Paginator
from django.db.models import Count, Max, Q, QuerySet
from django.utils import timezone

from feeds.models import Post, Source, Topic

POSTS_PER_PAGE = 20


def shown_posts() -> QuerySet[Post]:
    """Posts that visitors see, newest first (pinned ones on top), with what a list needs."""
    return Post.objects.filter(hidden=False).select_related("source").prefetch_related("topics").defer("content_html")


def latest_posts(count: int) -> list[Post]:
    """The newest posts, for the home page. Two queries."""
    return list(shown_posts().order_by("-sort_at", "-pk")[:count])


@dataclass(frozen=True, slots=True)
class Choice:
    """One filter link: what it stands for and how many posts it shows."""

    slug: str
    name: str
    count: int


@dataclass(frozen=True, slots=True)
class Listing:
    """The list page: one page of posts, the filters, and what to say when it is empty."""

    page: Page[Post]
    sources: list[Choice]
    topics: list[Choice]
    source: Source | None
    topic: Topic | None
    fetching: bool
    """Whether a source is being fetched or due, so that an empty page fills by itself."""


def listing(*, source: str = "", topic: str = "", page: str = "1") -> Listing:
    """One page of the feed. Unknown filters raise DoesNotExist; a page number that is out of range is clamped."""
    chosen_source = Source.objects.get(slug=source) if source else None
    chosen_topic = Topic.objects.get(slug=topic) if topic else None
    posts = shown_posts()
    if chosen_source:
        posts = posts.filter(source=chosen_source)
    if chosen_topic:
        posts = posts.filter(topics=chosen_topic)
    visible = Count("posts", filter=Q(posts__hidden=False), distinct=True)
    sources = Source.objects.annotate(count=visible).filter(count__gt=0).order_by("-is_sample", "name")
    topics = Topic.objects.annotate(count=visible).filter(count__gt=0)
    return Listing(
        page=Paginator(posts, POSTS_PER_PAGE).get_page(page),
        sources=[Choice(s.slug, s.name, s.count) for s in sources],
        topics=[Choice(t.slug, t.name, t.count) for t in topics],
        source=chosen_source,
        topic=chosen_topic,
        fetching=being_fetched(),
    )


def being_fetched() -> bool:
    """Whether any feed is being fetched, or is due and will be within the minute."""
    now = timezone.now()
    busy = Q(claimed_until__gt=now) | Q(next_poll_at__lte=now)
    resting = [Source.State.PAUSED, Source.State.GONE]
    return Source.objects.filter(busy, kind=Source.Kind.FEED).exclude(state__in=resting).exists()


def sources_with_health() -> QuerySet[Source]:
    """All sources with the number of their posts and the date of the newest, those with posts first."""
    return (
        Source.objects.annotate(
            post_count=Count("posts", filter=Q(posts__hidden=False), distinct=True),
            newest=Max("posts__sort_at", filter=Q(posts__hidden=False)),
        )
        .prefetch_related("topics")
        .order_by("-post_count", "name")
    )


def sources_by_state() -> dict[str, float]:
    """How many sources are in each state, for the metrics page."""
    return {row["state"]: row["count"] for row in Source.objects.values("state").annotate(count=Count("pk")).order_by()}


def post(pk: int) -> Post:
    """One visible post with everything its page shows. Raises Post.DoesNotExist."""
    return (
        Post.objects.filter(hidden=False)
        .select_related("source")
        .prefetch_related("topics", "appearances__source")
        .get(pk=pk)
    )


def neighbours(of: Post, count: int = 3) -> list[Post]:
    """Newest other posts that share a topic with this one, else of the same source."""
    others = shown_posts().exclude(pk=of.pk)
    topics = [topic.pk for topic in of.topics.all()]
    related = others.filter(topics__in=topics).distinct() if topics else others.filter(source=of.source)
    return list(related.order_by("-sort_at", "-pk")[:count])
