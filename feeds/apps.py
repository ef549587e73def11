from __future__ import annotations

from django.apps import AppConfig


class FeedsConfig(AppConfig):
    name = "feeds"
    label = "feeds"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from feeds import checks  # noqa: F401 - registers itself
        from feeds.selectors import sources_by_state
        from pixelbank.core import metrics

        metrics.register_gauge("pixelbank_feed_sources", "Sources of the feed by state.", "state", sources_by_state)
