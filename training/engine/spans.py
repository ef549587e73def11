"""What a rank did and when: named spans on one clock that all processes of the machine share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def now() -> float:
    """Seconds on the machine's monotonic clock; equal in every process, so lanes of different ranks line up."""
    return time.monotonic_ns() / 1e9


class Spans:
    """Collects the spans of one step of one rank.

    `synchronize` waits until the device has really done its work (nothing to wait for on a CPU); without it a GPU's
    spans would end when the work was queued.
    """

    def __init__(self, synchronize: Callable[[], None]) -> None:
        self._synchronize = synchronize
        self._spans: list[dict[str, Any]] = []

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        """Record one piece of computation."""
        self._synchronize()
        start = now()
        yield
        self._synchronize()
        self.add(name, start, now())

    def add(self, name: str, start: float, end: float, **more: Any) -> None:
        """Record a span whose edges are known, for example a bucket whose all-reduce ended in another thread."""
        self._spans.append({"name": name, "start": start, "end": end, **more})

    def split(self, name: str, rest: str, last: str) -> None:
        """End the span `name` where the last span `last` began, and call what follows `rest`."""
        whole = next(span for span in self._spans if span["name"] == name)
        at = max(span["start"] for span in self._spans if span["name"] == last)
        self.add(rest, at, whole["end"])
        whole["end"] = at

    def take(self) -> list[dict[str, Any]]:
        """The spans since the last call, in order of start."""
        taken, self._spans = self._spans, []
        return sorted(taken, key=lambda span: float(span["start"]))
