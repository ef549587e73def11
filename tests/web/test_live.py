"""The event stream: a snapshot, then what happened and what happens; resumed by id; the stored state as a fallback."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.http import StreamingHttpResponse
from django.test import AsyncClient

from pixelbank.core import events
from pixelbank.web import live


@dataclass
class Thing:
    """An object that can be followed, without a database."""

    public_id: UUID = field(default_factory=uuid4)
    state: dict[str, Any] = field(default_factory=lambda: {"state": "running"})
    done: bool = False
    allowed: bool = True

    @property
    def url(self) -> str:
        return f"/events/thing/{self.public_id}/"


@pytest.fixture
def thing(monkeypatch: pytest.MonkeyPatch, valkey: str) -> Iterator[Thing]:
    thing = Thing()
    events.register(
        "thing",
        may_follow=lambda request, public_id: public_id == thing.public_id and thing.allowed,
        snapshot=lambda public_id: thing.state,
        finished=lambda public_id: thing.done,
    )
    yield thing
    events._sources.pop("thing")


@dataclass(frozen=True)
class Event:
    kind: str
    data: Any
    id: str | None


async def read(response: StreamingHttpResponse) -> AsyncIterator[Event]:
    async for chunk in response:
        text = chunk.decode()
        fields = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line and not line.startswith(":"))
        if "event" in fields:
            yield Event(fields["event"], json.loads(fields["data"]), fields.get("id"))


def follow(thing: Thing, act: Callable[[Event], object] = lambda event: None, **headers: str) -> list[Event]:
    """All events until the server ends the stream; `act` is called with each as it arrives."""

    async def go() -> list[Event]:
        response = await AsyncClient().get(thing.url, headers=headers)
        assert response.status_code == 200
        seen = []
        async for event in read(response):
            seen.append(event)
            act(event)
        return seen

    return asyncio.run(asyncio.wait_for(go(), 20))


def kinds(seen: list[Event]) -> list[str]:
    return [event.kind for event in seen]


def test_a_reader_gets_the_stored_state_then_all_events_then_the_end(thing: Thing) -> None:
    events.publish("thing", thing.public_id, "case", {"index": 0})

    def act(event: Event) -> None:
        if event.kind == "case" and event.data["index"] == 0:
            events.publish("thing", thing.public_id, "case", {"index": 1})
            events.publish("thing", thing.public_id, "verdict", {"verdict": "AC"}, final=True)

    seen = follow(thing, act)
    assert kinds(seen) == ["snapshot", "case", "case", "verdict", "end"]
    assert seen[0].data == {"state": "running"}
    assert [event.data for event in seen[1:3]] == [{"index": 0}, {"index": 1}]


def test_a_reader_that_comes_back_gets_only_what_it_missed(thing: Thing) -> None:
    first = events.publish("thing", thing.public_id, "step", {"step": 1})
    events.publish("thing", thing.public_id, "step", {"step": 2})
    events.publish("thing", thing.public_id, "done", {}, final=True)
    seen = follow(thing, **{"Last-Event-ID": str(first)})
    assert kinds(seen) == ["step", "done", "end"]
    assert seen[0].data == {"step": 2}


@pytest.mark.parametrize("bad", ["0", "abc", "1-x", "-", "9" * 50 + "-0", "١-٠"])
def test_a_malformed_last_event_id_starts_from_the_beginning(thing: Thing, bad: str) -> None:
    events.publish("thing", thing.public_id, "done", {}, final=True)
    assert kinds(follow(thing, **{"Last-Event-ID": bad.encode().decode("latin-1")})) == ["snapshot", "done", "end"]


def test_when_the_stream_is_gone_the_stored_state_is_the_whole_story(thing: Thing) -> None:
    thing.done, thing.state = True, {"state": "done"}
    seen = follow(thing)
    assert kinds(seen) == ["snapshot", "snapshot", "end"]
    assert seen[-2].data == {"state": "done"}


def test_without_redis_the_stored_state_is_repeated_until_the_end(
    thing: Thing, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    monkeypatch.setattr(live, "STORED_STATE_EVERY_S", 0.01)

    def act(event: Event) -> None:
        thing.done, thing.state = True, {"state": "done"}

    seen = follow(thing, act)
    assert set(kinds(seen[:-1])) == {"snapshot"}
    assert seen[-2].data == {"state": "done"}
    assert seen[-1].kind == "end"


def test_without_redis_an_unfinished_stream_closes_so_that_the_browser_comes_back(
    thing: Thing, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.REDIS_URL = "unix:///nowhere/valkey.sock"
    monkeypatch.setattr(live, "STORED_STATE_EVERY_S", 0.01)
    assert set(kinds(follow(thing))) == {"snapshot"}


def test_a_silent_stream_is_kept_alive(thing: Thing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "HEARTBEAT_S", 0.05)

    async def go() -> str:
        response = await AsyncClient().get(thing.url)
        text = ""
        async for chunk in response:
            text += chunk.decode()
            if ": still here" in text:
                events.publish("thing", thing.public_id, "done", {}, final=True)
        return text

    text = asyncio.run(asyncio.wait_for(go(), 20))
    assert ": still here" in text
    assert text.endswith("event: end\ndata: {}\n\n")


def test_headers_let_proxies_pass_it_on(thing: Thing) -> None:
    events.publish("thing", thing.public_id, "done", {}, final=True)

    async def go() -> StreamingHttpResponse:
        response = await AsyncClient().get(thing.url)
        async for _ in response:
            pass
        return response

    response = asyncio.run(go())
    assert response["Content-Type"] == "text/event-stream"
    assert response["Cache-Control"] == "no-cache, no-transform"
    assert response["X-Accel-Buffering"] == "no"


def test_who_may_not_follow_learns_nothing(thing: Thing) -> None:
    thing.allowed = False
    assert asyncio.run(AsyncClient().get(thing.url)).status_code == 404
    assert asyncio.run(AsyncClient().get(f"/events/nothing/{uuid4()}/")).status_code == 404


def test_clients_are_capped_and_leaving_frees_the_place(thing: Thing, settings: Any) -> None:
    settings.EVENTS_MAX_CLIENTS_PER_VISITOR = 1

    async def open_until_cancelled(opened: asyncio.Event) -> None:
        response = await AsyncClient().get(thing.url)
        async for _ in response:
            opened.set()

    async def go() -> list[int]:
        opened = asyncio.Event()
        first = asyncio.create_task(open_until_cancelled(opened))
        await opened.wait()
        refused = await AsyncClient().get(thing.url)
        first.cancel()  # what the server does when the browser goes away
        await asyncio.wait([first])
        again = await AsyncClient().get(thing.url)
        return [refused.status_code, again.status_code]

    assert asyncio.run(go()) == [503, 200]
    gc.collect()
    assert not live._clients, "every stream that ended was counted out"


def test_a_burst_of_clients_meets_the_same_cap(thing: Thing, settings: Any) -> None:
    settings.EVENTS_MAX_CLIENTS_PER_VISITOR = 3

    async def go() -> list[int]:
        answers = await asyncio.gather(*(AsyncClient().get(thing.url) for _ in range(8)))
        return sorted(answer.status_code for answer in answers)

    assert asyncio.run(go()) == [200] * 3 + [503] * 5
    gc.collect()
    assert not live._clients, "streams that were never read free their places, too"
