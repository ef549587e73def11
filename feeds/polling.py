"""When to ask a source again, and in which state it is. Pure rules: no database, no network.

States: ``unverified`` until the first good fetch, then ``ok``; ``degraded`` after a failure, ``failing`` after
three in a row; ``gone`` after two 410 at least a day apart. ``paused`` is an editor's choice.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

INTERVAL = timedelta(hours=1)
SAMPLE_INTERVAL = timedelta(minutes=10)
FIRST_RETRY = timedelta(minutes=15)
LONGEST_WAIT = timedelta(hours=24)
LONGEST_RETRY_AFTER = timedelta(days=7)
FULL_FETCH_EVERY = timedelta(days=7)
"""Unconditional, so that a server that answers 304 for ever by mistake is found out."""
GONE_AFTER = timedelta(hours=24)
FAILING_AFTER = 3


def retry_after(value: str | None, now: datetime) -> timedelta | None:
    """How long a server asks to wait, by ``Retry-After`` in seconds or as a date; at most seven days."""
    if not value:
        return None
    value = value.strip()
    if value.isascii() and value.isdigit():
        wait = timedelta(seconds=min(int(value[:9]), int(LONGEST_RETRY_AFTER.total_seconds())))
    else:
        try:
            moment = parsedate_to_datetime(value)
        except (ValueError, IndexError):
            return None
        wait = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now
    return max(timedelta(0), min(wait, LONGEST_RETRY_AFTER))


def back_off(failures: int) -> timedelta:
    """15 minutes, doubled with each further failure in a row, at most a day."""
    return min(LONGEST_WAIT, FIRST_RETRY * 2 ** min(max(failures - 1, 0), 10))


def jittered(wait: timedelta, random: Callable[[], float]) -> timedelta:
    """Up to a tenth later, so that sources do not fall due together. Never earlier: a server's wish is a minimum."""
    return wait * (1 + 0.1 * random())
