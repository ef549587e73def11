"""The editors' side: sources with their health, "fetch now", posts that can be hidden or pinned, and the fetch log."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from feeds import services
from feeds.models import FetchLog, Post, Source
from pixelbank.core import fetch


class SourceForm(forms.ModelForm):  # type: ignore[type-arg]
    """Checks the address as the client will, so that a mistake is named here and not an hour later."""

    url = forms.URLField(label="Address of the feed", max_length=2000, assume_scheme="https")
    site_url = forms.URLField(label="Address of the site", max_length=2000, assume_scheme="https", required=False)

    class Meta:
        model = Source
        fields = ("name", "slug", "kind", "url", "site_url", "note", "topics", "fulltext_allowed")

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        try:
            fetch.check_url(url)
        except fetch.Refused as error:
            raise forms.ValidationError(f"{error} Paste the address of the feed, starting with https://.") from None
        others = Source.objects.filter(url=url).exclude(pk=self.instance.pk)
        if other := others.first():
            raise forms.ValidationError(f'This address is already read, as "{other.name}".')
        return url


@admin.register(Source)
class SourceAdmin(admin.ModelAdmin[Source]):
    form = SourceForm
    list_display = (
        "name",
        "kind",
        "health",
        "last_success_at",
        "last_status",
        "failures",
        "next_poll_at",
        "post_count",
    )
    list_filter = ("state", "kind", "is_sample", "topics")
    search_fields = ("name", "url", "note")
    prepopulated_fields = {"slug": ("name",)}
    filter_horizontal = ("topics",)
    actions = ("fetch_now", "pause")
    readonly_fields = (
        "health", "is_sample", "format", "verified_at", "last_fetch_at", "last_success_at", "last_status", "failures",
        "next_poll_at", "etag", "last_modified", "fetches",
    )  # fmt: skip
    fieldsets = (
        (None, {"fields": ("name", "slug", "kind", "url", "site_url", "note", "topics", "fulltext_allowed")}),
        ("Health", {"fields": readonly_fields}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Source]:
        return super().get_queryset(request).annotate(post_count=Count("posts"))

    @admin.display(description="posts", ordering="post_count")
    def post_count(self, source: Source) -> int:
        return int(getattr(source, "post_count", 0))

    @admin.display(description="state", ordering="state")
    def health(self, source: Source) -> str:
        state = "being fetched" if source.being_fetched else source.get_state_display()
        return f"{state}: {source.problem}" if source.problem else state

    @admin.display(description="last fetches")
    def fetches(self, source: Source) -> SafeString:
        if source.pk is None:
            return format_html("{}", "None yet.")
        rows = (
            (
                f"{line.at:%Y-%m-%d %H:%M} UTC",
                line.get_outcome_display(),
                line.status or "",
                line.new_posts,
                line.detail,
            )
            for line in source.fetches.all()[:10]
        )
        return format_html_join("", "{}: {} {} ({} new) {}<br>", rows) or format_html("{}", "None yet.")

    def save_model(self, request: HttpRequest, obj: Source, form: Any, change: bool) -> None:
        moved = "url" in form.changed_data
        if moved:
            # Validators belong to the old address's document.
            obj.etag = obj.last_modified = ""
            obj.full_fetch_at = None
        super().save_model(request, obj, form, change)
        if moved and services.request_fetch(obj):
            messages.info(request, f"{obj.name} is being fetched; reload this page in a moment to see how it went.")

    @admin.action(description="Fetch now (starts new, paused and gone sources)")
    def fetch_now(self, request: HttpRequest, queryset: QuerySet[Source]) -> None:
        asked = [source for source in queryset if services.request_fetch(source)]
        others = queryset.count() - len(asked)
        if asked:
            messages.success(request, f"{len(asked)} sources are being fetched; reload this page in a moment.")
        if others:
            messages.warning(
                request, f"{others} sources are no feeds: sitemaps and manual sources are not fetched by this version."
            )

    @admin.action(description="Pause")
    def pause(self, request: HttpRequest, queryset: QuerySet[Source]) -> None:
        for source in queryset:
            services.pause(source)
        messages.success(request, f"{queryset.count()} sources paused; their posts stay.")


@admin.register(Post)
class PostAdmin(admin.ModelAdmin[Post]):
    list_display = ("headline", "source", "sort_at", "words", "hidden", "pinned")
    list_filter = ("hidden", "pinned", "topics", "source")
    list_select_related = ("source",)
    search_fields = ("title", "summary", "url")
    date_hierarchy = "sort_at"
    filter_horizontal = ("topics",)
    actions = ("hide", "show", "pin", "unpin")
    fields = (
        "title", "source", "url", "published_at", "summary", "authors", "tags", "words", "topic_reasons",
        "topics", "hidden", "pinned",
    )  # fmt: skip
    readonly_fields = (
        "title", "source", "url", "published_at", "summary", "authors", "tags", "words", "topic_reasons",
    )  # fmt: skip

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # posts come from sources

    @admin.action(description="Hide from visitors")
    def hide(self, request: HttpRequest, queryset: QuerySet[Post]) -> None:
        self._set(request, queryset, "hidden", hidden=True)

    @admin.action(description="Show to visitors")
    def show(self, request: HttpRequest, queryset: QuerySet[Post]) -> None:
        self._set(request, queryset, "shown", hidden=False)

    @admin.action(description="Pin to the top")
    def pin(self, request: HttpRequest, queryset: QuerySet[Post]) -> None:
        self._set(request, queryset, "pinned", pinned=True)

    @admin.action(description="Unpin")
    def unpin(self, request: HttpRequest, queryset: QuerySet[Post]) -> None:
        self._set(request, queryset, "unpinned", pinned=False)

    def _set(self, request: HttpRequest, queryset: QuerySet[Post], done: str, **fields: bool) -> None:
        messages.success(request, f"{queryset.update(**fields)} posts {done}.")


@admin.register(FetchLog)
class FetchLogAdmin(admin.ModelAdmin[FetchLog]):
    list_display = ("at", "source", "outcome", "status", "new_posts", "changed_posts", "wire_bytes", "detail")
    list_filter = ("outcome", "source")
    list_select_related = ("source",)
    date_hierarchy = "at"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: FetchLog | None = None) -> bool:
        return False
