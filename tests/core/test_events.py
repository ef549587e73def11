"""Publishing events must never hurt the work that it tells of."""

from __future__ import annotations

from uuid import uuid4

import pytest

from pixelbank.core import events, redis


def test_events_keep_their_order_and_only_the_last_is_final(valkey: str) -> None:
    public_id = uuid4()
    events.publish_many("run", public_id, [("step", {"step": 1}), ("done", {})], final=True)
    entries = redis.client().xrange(events.key("run", public_id))
    assert [fields["kind"] for _, fields in entries] == ["step", "done"]
    assert ["final" in fields for _, fields in entries] == [False, True]
    assert 0 < redis.client().ttl(events.key("run", public_id)) <= events.LIFETIME_S


def test_without_redis_publishing_says_so_and_goes_on(settings: object, caplog: pytest.LogCaptureFixture) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"  # type: ignore[attr-defined]
    redis.client.cache_clear()
    try:
        assert events.publish("run", uuid4(), "step", {"step": 1}) is None
        assert "Redis can't be reached" in caplog.text
    finally:
        redis.client.cache_clear()


def test_not_a_number_is_refused_before_a_browser_has_to_parse_it(valkey: str) -> None:
    with pytest.raises(ValueError, match="Out of range float"):
        events.publish("run", uuid4(), "step", {"loss": float("nan")})
