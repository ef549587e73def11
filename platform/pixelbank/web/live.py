"""The live view: one object's Redis Stream as Server-Sent Events (WHATWG HTML, section 9.2).

A new reader gets a snapshot of the stored state, then every event still in the stream, then new ones as they
come. A reader that comes back sends Last-Event-ID and gets only what it missed. When Redis can't be reached the
reader gets the stored state again and again instead, until the object is finished.
"""

from __future__ import annotations

import asyncio
import json
import weakref
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import redis
from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse

from pixelbank.core import events
from pixelbank.core.metrics import EVENT_CLIENTS_REFUSED
from pixelbank.core.redis import async_client

HEARTBEAT_S = 15
STORED_STATE_EVERY_S = 2
STORED_STATES = 15
_clients: Counter[str] = Counter()


async def stream(request: HttpRequest, source: str, public_id: UUID) -> HttpResponseBase:
    found = events.source(source)
    if found is None or not await sync_to_async(found.may_follow)(request, public_id):
        raise Http404
    place = _Place.take(request.META.get("REMOTE_ADDR") or "unknown")
    if place is None:
        EVENT_CLIENTS_REFUSED.inc()
        # EventSource doesn't retry after an error status; the page then shows the stored state by reloading.
        return HttpResponse(
            "Too many live pages are open. Close one, or reload this page to see its state.",
            status=503,
            headers={"Retry-After": "10"},
            content_type="text/plain",
        )
    last_id = _last_event_id(request)
    response = StreamingHttpResponse(
        _until_it_ends(place, _frames(found, events.key(source, public_id), public_id, last_id)),
        content_type="text/event-stream",
    )
    # A browser that leaves before the first byte never starts the generator, so that can't be the only way out.
    weakref.finalize(response, place.free)
    response["Cache-Control"] = "no-cache, no-transform"
    response["X-Accel-Buffering"] = "no"  # nginx would hold small events back
    return response


def _last_event_id(request: HttpRequest) -> str | None:
    value = request.headers.get("Last-Event-ID", "")
    milliseconds, dash, sequence = value.partition("-")
    if dash and milliseconds.isdecimal() and sequence.isdecimal() and len(value) < 40:
        return value
    return None


class _Place:
    """One open stream's place under the caps. Taken when the answer begins, so that a burst can't slip through."""

    def __init__(self, visitor: str) -> None:
        self.visitor: str | None = visitor
        _clients[visitor] += 1

    @classmethod
    def take(cls, visitor: str) -> _Place | None:
        if _clients.total() >= settings.EVENTS_MAX_CLIENTS:
            return None
        return cls(visitor) if _clients[visitor] < settings.EVENTS_MAX_CLIENTS_PER_VISITOR else None

    def free(self) -> None:
        """Give the place back; only the first call counts."""
        visitor, self.visitor = self.visitor, None
        if visitor is None:
            return
        _clients[visitor] -= 1
        if not _clients[visitor]:
            del _clients[visitor]


async def _until_it_ends(place: _Place, frames: AsyncIterator[str]) -> AsyncIterator[str]:
    """The frames; the place is free again when they end, however that happens."""
    try:
        async for frame in frames:
            yield frame
    finally:
        place.free()


async def _frames(source: events.Source, key: str, public_id: UUID, last_id: str | None) -> AsyncIterator[str]:
    yield "retry: 1000\n\n"
    if last_id is None:
        yield _frame("snapshot", await sync_to_async(source.snapshot)(public_id))
        last_id = "0-0"
    try:
        async for frame in _from_stream(source, key, public_id, last_id):
            yield frame
    except redis.RedisError:
        async for frame in _from_stored_state(source, public_id):
            yield frame


async def _from_stream(source: events.Source, key: str, public_id: UUID, last_id: str) -> AsyncIterator[str]:
    client = async_client()
    try:
        # What is there at once, then blocking reads; a finished object whose stream is gone ends here too.
        block: int | None = None
        while True:
            answer = await client.xread({key: last_id}, count=500, block=block)
            for _, entries in answer or []:
                for identifier, fields in entries:
                    last_id = identifier
                    yield f"id: {identifier}\nevent: {fields['kind']}\ndata: {fields['data']}\n\n"
                    if "final" in fields:
                        yield _frame("end", {})
                        return
            if not answer:
                if await sync_to_async(source.finished)(public_id):
                    yield _frame("snapshot", await sync_to_async(source.snapshot)(public_id))
                    yield _frame("end", {})
                    return
                if block is not None:
                    yield ": still here\n\n"
                block = round(HEARTBEAT_S * 1000)
    finally:
        await client.aclose()


async def _from_stored_state(source: events.Source, public_id: UUID) -> AsyncIterator[str]:
    """The stored state again and again. After a while the stream just closes: the browser then comes back by
    itself, with its Last-Event-ID, and finds Redis again if that has returned."""
    for _ in range(STORED_STATES):
        finished = await sync_to_async(source.finished)(public_id)
        yield _frame("snapshot", await sync_to_async(source.snapshot)(public_id))
        if finished:
            yield _frame("end", {})
            return
        await asyncio.sleep(STORED_STATE_EVERY_S)


def _frame(kind: str, data: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n"
