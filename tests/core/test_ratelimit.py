from __future__ import annotations

from pixelbank.core import ratelimit


def test_the_limit_holds_for_one_visitor_and_says_when_to_come_back(valkey: str) -> None:
    hits = [ratelimit.hit("submit", "ann", "3/minute") for _ in range(4)]
    assert hits[:3] == [None, None, None]
    refused = hits[3]
    assert refused is not None
    assert 1 <= refused.retry_after <= 60
    assert ratelimit.hit("submit", "bob", "3/minute") is None
    assert ratelimit.hit("start a run", "ann", "3/minute") is None


def test_without_redis_nothing_is_limited(settings: object) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"  # type: ignore[attr-defined]
    ratelimit._limiter.cache_clear()
    try:
        assert ratelimit.hit("submit", "ann", "1/minute") is None
        assert ratelimit.hit("submit", "ann", "1/minute") is None
    finally:
        ratelimit._limiter.cache_clear()
