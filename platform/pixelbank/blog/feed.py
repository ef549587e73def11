"""The blog as an Atom feed."""

from __future__ import annotations

import datetime
import re

from django.conf import settings
from django.contrib.syndication.views import Feed
from django.http import HttpRequest
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed

from pixelbank.blog import selectors
from pixelbank.blog.models import DailyPost

LATEST = 20


class DailyFeed(Feed):  # type: ignore[type-arg]
    """The latest posts, whole, so that they can be read in a feed reader."""

    feed_type = Atom1Feed
    title = f"{settings.SITE_NAME}: daily"
    subtitle = "One topic, one problem and one thing worth a look, every day."

    def get_object(self, request: HttpRequest) -> str:
        """The address of this site as the asking reader knows it."""
        return request.build_absolute_uri("/").rstrip("/")

    def link(self) -> str:
        return reverse("blog:list")

    def items(self, root: str) -> list[DailyPost]:
        return [_with_addresses(post, root) for post in selectors.posts()[:LATEST]]

    def item_title(self, item: DailyPost) -> str:
        return item.title

    def item_description(self, item: DailyPost) -> str:
        return item.html

    def item_pubdate(self, item: DailyPost) -> datetime.datetime:
        return datetime.datetime.combine(item.date, datetime.time(), tzinfo=datetime.UTC)

    def item_updateddate(self, item: DailyPost) -> datetime.datetime:
        return item.updated_at


def _with_addresses(post: DailyPost, root: str) -> DailyPost:
    """A reader shows the text away from this site, so links within the site need its address. Not to be saved."""
    post.html = re.sub(r'(href|src)="/(?!/)', rf'\1="{root}/', post.html)
    return post
