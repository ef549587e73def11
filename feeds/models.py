"""Facts of the feed: where posts come from, the posts, where each of them appeared, and what each fetch did."""

from __future__ import annotations

import hashlib
from datetime import datetime
from urllib.parse import urlsplit

from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from feeds.pipeline.text import reading_minutes


class Topic(models.Model):
    """One of the few shelves of the feed. Rows come from feeds/topics.py."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=60)
    order = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["order", "name"]

    def __str__(self) -> str:
        return self.name


class Source(models.Model):
    """A publisher that is read, with what the last fetches left behind."""

    class Kind(models.TextChoices):
        FEED = "feed", "feed (RSS, Atom or JSON Feed)"
        SITEMAP = "sitemap", "sitemap of a site without a feed"
        MANUAL = "manual", "posts added by hand"

    class State(models.TextChoices):
        UNVERIFIED = "unverified", "not fetched yet"
        OK = "ok", "working"
        DEGRADED = "degraded", "last fetch failed"
        FAILING = "failing", "failing"
        GONE = "gone", "gone"
        PAUSED = "paused", "paused"

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=8, choices=Kind, default=Kind.FEED)
    url = models.URLField("address of the feed", max_length=2000)
    site_url = models.URLField("address of the site", max_length=2000, blank=True)
    format = models.CharField(max_length=20, blank=True, help_text="As the last good fetch found it.")
    note = models.TextField("our note", blank=True, help_text="What a reader or editor should know about this source.")
    is_sample = models.BooleanField("sample", default=False, help_text="Written by PixelBank, to try the feed out.")
    fulltext_allowed = models.BooleanField(
        "full text may be shown", default=False, help_text="Only where the publisher's licence says so."
    )
    topics = models.ManyToManyField(
        Topic, blank=True, related_name="sources", help_text="Given to every post of this source."
    )

    state = models.CharField(max_length=10, choices=State, default=State.UNVERIFIED, db_index=True)
    problem = models.CharField(max_length=300, blank=True, help_text="Why the last fetch failed, in one sentence.")
    failures = models.PositiveIntegerField("failures in a row", default=0)
    gone_since = models.DateTimeField(null=True, blank=True, editable=False)
    etag = models.CharField(max_length=1000, blank=True, editable=False)
    last_modified = models.CharField(max_length=100, blank=True, editable=False)
    verified_at = models.DateTimeField("first good fetch", null=True, blank=True, editable=False)
    full_fetch_at = models.DateTimeField("last unconditional fetch", null=True, blank=True, editable=False)
    last_fetch_at = models.DateTimeField("last fetch", null=True, blank=True, editable=False)
    last_success_at = models.DateTimeField("last good fetch", null=True, blank=True, editable=False)
    last_status = models.PositiveSmallIntegerField("last HTTP status", null=True, blank=True, editable=False)
    next_poll_at = models.DateTimeField("next fetch", null=True, blank=True, db_index=True)
    token = models.PositiveIntegerField("claims so far", default=0, editable=False)
    claimed_until = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["url"], condition=Q(is_sample=False), name="feeds_source_url_once")
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return f"{reverse('feeds:list')}?source={self.slug}"

    @property
    def short_name(self) -> str:
        """The name for places where a sample is labelled anyway."""
        return self.name.removesuffix(" (sample)") if self.is_sample else self.name

    @property
    def being_fetched(self) -> bool:
        return self.claimed_until is not None and self.claimed_until > timezone.now()


class Post(models.Model):
    """One article, whichever feeds it came through. Texts are plain except ``content_html``, which is cleaned."""

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="posts")
    url = models.URLField(max_length=2000, blank=True)
    url_key = models.CharField(max_length=64, blank=True, editable=False)
    title = models.CharField(max_length=500, blank=True)
    summary = models.TextField(blank=True)
    content_html = models.TextField(blank=True)
    content_key = models.CharField(max_length=64, editable=False)
    authors = models.JSONField(default=list, blank=True)
    tags = models.JSONField(default=list, blank=True)
    topics = models.ManyToManyField(Topic, blank=True, related_name="posts")
    topic_reasons = models.JSONField(default=dict, blank=True, help_text="Why each topic was given.")
    words = models.PositiveIntegerField(default=0)
    published_at = models.DateTimeField(null=True, blank=True)
    first_seen_at = models.DateTimeField(default=timezone.now)
    changed_at = models.DateTimeField(null=True, blank=True)
    sort_at = models.DateTimeField(db_index=True, editable=False)
    hidden = models.BooleanField(default=False)
    pinned = models.BooleanField(default=False)

    class Meta:
        ordering = ["-pinned", "-sort_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["url_key"], condition=~Q(url_key=""), name="feeds_post_url_once")
        ]
        indexes = [models.Index(fields=["hidden", "-pinned", "-sort_at", "-id"], name="feeds_post_list")]

    def __str__(self) -> str:
        return self.headline

    def get_absolute_url(self) -> str:
        return reverse("feeds:post", args=[self.pk])

    @property
    def headline(self) -> str:
        """The title, or the first words of a post that has none."""
        return self.title or " ".join(self.summary.split()[:12]) or "Untitled post"

    @property
    def shows_fulltext(self) -> bool:
        return self.source.fulltext_allowed and bool(self.content_html)

    @property
    def has_body(self) -> bool:
        """Whether the feed brought the text, so that a reading time means something."""
        return self.words >= 80

    @property
    def minutes(self) -> int:
        return reading_minutes(self.words)

    @property
    def host(self) -> str:
        return (urlsplit(self.url).hostname or "").removeprefix("www.")


class Appearance(models.Model):
    """One entry of one feed that is this post. The keys hold hashes of the entry's identity, empty where unusable."""

    post = models.ForeignKey(Post, on_delete=models.CASCADE, related_name="appearances")
    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="appearances")
    guid = models.CharField(max_length=2000, blank=True)
    url = models.CharField(max_length=2000, blank=True)
    guid_key = models.CharField(max_length=64, blank=True)
    hash_key = models.CharField(max_length=64, blank=True, db_index=True)
    first_seen_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "post"], name="feeds_appearance_once"),
            models.UniqueConstraint(
                fields=["source", "guid_key"], condition=~Q(guid_key=""), name="feeds_appearance_guid_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.post_id} in {self.source_id}"


class FetchLog(models.Model):
    """What one fetch of a source did."""

    class Outcome(models.TextChoices):
        NEW = "new", "new posts"
        UNCHANGED = "unchanged", "nothing new"
        NOT_MODIFIED = "not modified", "not modified (304)"
        FAILED = "failed", "failed"

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="fetches")
    at = models.DateTimeField(default=timezone.now, db_index=True)
    outcome = models.CharField(max_length=12, choices=Outcome)
    status = models.PositiveSmallIntegerField("HTTP status", null=True, blank=True)
    detail = models.CharField(max_length=300, blank=True)
    new_posts = models.PositiveIntegerField(default=0)
    changed_posts = models.PositiveIntegerField(default=0)
    wire_bytes = models.PositiveIntegerField(default=0)
    milliseconds = models.PositiveIntegerField(default=0)
    warnings = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ["-at", "-pk"]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.outcome}"


def key_of(value: str) -> str:
    """A key of fixed length for an identity of any length; '' stays ''."""
    return hashlib.sha256(value.encode("utf-8", "replace")).hexdigest() if value else ""


def moment_of(published: datetime | None, seen: datetime) -> datetime:
    """What a post is sorted by: its date, or when it was first seen where it has none."""
    return min(published, seen) if published else seen
