"""Connections to Redis or Valkey, by the one setting REDIS_URL."""

from __future__ import annotations

from functools import cache

import redis
import redis.asyncio
from django.conf import settings


@cache
def client() -> redis.Redis:
    """The process's pooled client. Short timeouts: a page must not hang because Redis does."""
    return redis.Redis.from_url(settings.REDIS_URL, decode_responses=True, socket_connect_timeout=2, socket_timeout=5)


def async_client() -> redis.asyncio.Redis:
    """A client of its own for one stream: it blocks in XREAD, and belongs to the running event loop."""
    return redis.asyncio.Redis.from_url(settings.REDIS_URL, decode_responses=True, socket_connect_timeout=2)
