"""What other rooms tell the learners' room: how to export, merge and sum up what hangs on a learner."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pixelbank.learners.models import Learner

Export = Callable[[Learner], Any]
Merge = Callable[[Learner, Learner], None]


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of an overview, with what it counts: `Figure("Sections read", 2, of=23)`."""

    label: str
    value: int
    of: int | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One line under the figures: something done lately, or the next thing to do."""

    title: str
    url: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Overview:
    """What a room shows on the learner's page: `title` links to `url`."""

    title: str
    url: str
    figures: list[Figure] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Room:
    """`export` returns JSON-able data; `merge(source, target)` settles rows that would clash in the target.

    `overview` returns the room's part of the learner's page, or None when there is nothing to show yet.
    """

    export: Export
    merge: Merge | None = None
    overview: Callable[[Learner], Overview | None] | None = None


rooms: dict[str, Room] = {}


def register(
    name: str,
    export: Export,
    merge: Merge | None = None,
    overview: Callable[[Learner], Overview | None] | None = None,
) -> None:
    """Called from an app's `ready()`."""
    rooms[name] = Room(export, merge, overview)
