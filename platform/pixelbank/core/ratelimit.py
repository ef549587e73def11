"""Rate limits by the `limits` library: a moving window in Redis, shared by all processes."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from functools import cache

import redis
from django.conf import settings
from limits import parse
from limits.storage import RedisStorage
from limits.strategies import MovingWindowRateLimiter

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RateLimited:
    retry_after: int
    """Whole seconds until the next try can succeed, at least 1."""


@cache
def _limiter() -> MovingWindowRateLimiter:
    url = settings.REDIS_URL.replace("unix://", "redis+unix://", 1)
    return MovingWindowRateLimiter(RedisStorage(url))


def hit(name: str, who: str, limit: str = "10/minute") -> RateLimited | None:
    """Count one use of `name` by `who`. None: go on. Without Redis nothing is limited, and the log says so."""
    item = parse(limit)
    try:
        if _limiter().hit(item, name, who):
            return None
        reset = _limiter().get_window_stats(item, name, who).reset_time
    except redis.RedisError as error:
        log.warning("%s is not rate-limited now: Redis can't be reached (%s).", name, error)
        return None
    return RateLimited(max(1, round(reset - time.time())))
