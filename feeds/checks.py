"""A start-up check: the hole for tests in the guarded client must be closed where strangers visit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.apps.config import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, register


@register(Tags.security)
def no_loopback_fetches_in_production(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    if settings.PRODUCTION and settings.FETCH_ALLOW_LOOPBACK_PORTS:
        return [
            Error(
                "FETCH_ALLOW_LOOPBACK_PORTS is set in production: a feed could make the server fetch from itself.",
                hint="Unset it. Only tests and the sample feed server of ./dev run use it.",
                id="feeds.E001",
            )
        ]
    return []
