"""What other rooms tell the learners' room: how to export their data, and how to merge two learners' rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pixelbank.learners.models import Learner

Export = Callable[[Learner], Any]
Merge = Callable[[Learner, Learner], None]


@dataclass(frozen=True, slots=True)
class Room:
    """`export` returns JSON-able data; `merge(source, target)` settles rows that would clash in the target."""

    export: Export
    merge: Merge | None = None


rooms: dict[str, Room] = {}


def register(name: str, export: Export, merge: Merge | None = None) -> None:
    rooms[name] = Room(export, merge)
