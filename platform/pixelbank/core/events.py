"""Live events: one Redis Stream per object, written by workers, read by the page's event stream.

The stream is a convenience and may vanish at any time. The database row stays the truth, so each source also
says how to take a snapshot of what is stored. Readers must accept an event twice (it may be in the snapshot
already): events carry keys such as a case's index or a step's number.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import redis
from django.http import HttpRequest

from pixelbank.core.redis import client

MAX_LENGTH = 20_000
LIFETIME_S = 3600
log = logging.getLogger(__name__)
# redis-py declares its invariant dict type this way.
Fields = dict[bytes | bytearray | memoryview | str | int | float, bytes | bytearray | memoryview | str | int | float]


@dataclass(frozen=True, slots=True)
class Source:
    """How the web room may show the live events of one kind of object."""

    may_follow: Callable[[HttpRequest, UUID], bool]
    snapshot: Callable[[UUID], dict[str, Any] | None]
    finished: Callable[[UUID], bool]


_sources: dict[str, Source] = {}


def register(
    source: str,
    *,
    may_follow: Callable[[HttpRequest, UUID], bool],
    snapshot: Callable[[UUID], dict[str, Any] | None],
    finished: Callable[[UUID], bool],
) -> None:
    """Called from an app's `ready()`: objects of this source can be followed at /events/<source>/<uuid>/."""
    _sources[source] = Source(may_follow, snapshot, finished)


def source(name: str) -> Source | None:
    return _sources.get(name)


def key(source: str, public_id: UUID | str) -> str:
    return f"events:{source}:{public_id}"


def publish(source: str, public_id: UUID | str, kind: str, data: dict[str, Any], *, final: bool = False) -> str | None:
    """Append one event and return its stream id; `final` ends the stream for its readers.

    Returns None when Redis can't be reached: the work goes on, the page falls back to the stored state.
    """
    entries = [(kind, data)]
    ids = publish_many(source, public_id, entries, final=final)
    return ids[-1] if ids else None


def publish_many(
    source: str, public_id: UUID | str, entries: list[tuple[str, dict[str, Any]]], *, final: bool = False
) -> list[str]:
    """Append several events in one round trip, in order; only the last one can be final."""
    name = key(source, public_id)
    try:
        with client().pipeline(transaction=False) as pipe:
            for index, (kind, data) in enumerate(entries):
                fields: Fields = {"kind": kind, "data": json.dumps(data, allow_nan=False, separators=(",", ":"))}
                if final and index == len(entries) - 1:
                    fields["final"] = "1"
                pipe.xadd(name, fields, maxlen=MAX_LENGTH, approximate=True)
            pipe.expire(name, LIFETIME_S)
            return [str(identifier) for identifier in pipe.execute()[:-1]]
    except redis.RedisError as error:
        log.warning("Events of %s are not live: Redis can't be reached (%s).", name, error)
        return []
