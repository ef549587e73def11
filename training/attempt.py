"""One attempt at a run: relay what the launcher says to the page and to the row, and let go when it must end.

The worker holds the row by a lease that it renews with each write. If it loses the row (it was too slow, the run was
merged away or deleted) it lets go of the launcher's connection, and the ranks end.
"""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

from django.utils import timezone

from pixelbank.core import events, rows
from training.engine.client import LAST_EVENTS, Event, RunHandle
from training.models import Run

PUBLISH_EVERY_S = 0.04
STORE_EVERY_S = 1.0
LOOK_EVERY_S = 0.25  # for a cancel request
TIMELINE_EVERY_S = 0.25
OVERTIME_S = 15.0  # the engine keeps its own deadline; this is for an engine that hangs


class Attempt:
    """The relay loop and what it has gathered so far."""

    def __init__(self, run: Run, token: int, handle: RunHandle, lease: timedelta) -> None:
        self._run = run
        self._token = token
        self._handle = handle
        self._lease = lease
        self._facts: dict[str, Any] = {}
        self._points: list[list[float]] = []
        self._twin: list[list[float]] = []
        self._live: dict[str, Any] = {"ranks": [0] * int(run.config["ranks"])}
        self._spans: dict[int, list[Event]] = {}  # step -> spans of all ranks
        self._unpublished: list[tuple[str, dict[str, Any]]] = []
        self._new: dict[str, list[list[float]]] = {"points": [], "twin": []}
        self._timeline_at = 0.0

    def go(self) -> str | None:
        """Relay until the run ends, in whatever way; then give the row its end state, if it is still ours.

        Returns why, if the launcher or the run's supervisor went away in the middle: then the row is left as it is.
        """
        self._unpublished.append(("restart", {"attempt": self._token}))
        if not self._store():
            return None
        clock = time.monotonic
        deadline = clock() + float(self._run.config["deadline_s"]) + OVERTIME_S
        published = stored = looked = clock()
        while True:
            batch = self._handle.events(PUBLISH_EVERY_S)
            if batch is None:
                return "The process that ran it ended without a word."
            for event in batch:
                if event["event"] == "interrupted":
                    return str(event["reason"])
                if event["event"] in LAST_EVENTS:
                    self._finish(event)
                    return None
                self._take(event)
            now = clock()
            if now > deadline:
                self._finish({"event": "failed", "reason": "It did not end in time and was given up."})
                return None
            if now - published >= PUBLISH_EVERY_S:
                self._publish()
                published = now
            if now - stored >= STORE_EVERY_S:
                if not self._store():
                    return None
                stored = now
            if now - looked >= LOOK_EVERY_S:
                held = Run.objects.filter(pk=self._run.pk, token=self._token, state=Run.State.RUNNING)
                wants_cancel = held.values_list("cancel_requested", flat=True).first()
                if wants_cancel is None:
                    return None
                if wants_cancel:
                    self._handle.cancel()
                looked = now

    def _take(self, event: Event) -> None:
        """Fold one event of the engine into what is known."""
        kind = event["event"]
        if kind == "start":
            self._facts = {key: event[key] for key in ("device", "backend", "note", "baselines", "torch")}
            self._unpublished.append(("facts", self._facts))
        elif kind in ("span", "comm"):
            self._spans.setdefault(event["step"], []).append(event)
            if event.get("name") == "optimizer":  # the last thing a rank does in a step
                self._live["ranks"][event["rank"]] = event["step"] + 1
        elif kind == "step":
            self._new["points"].append([event["step"], round(event["loss"], 5)])
            self._live["tokens_per_s"] = event["tokens_per_s"]
            self._live["bytes"] = event["bytes"]
            self._keep_timeline(event)
        elif kind == "twin":
            self._new["twin"].append([event["step"], round(event["loss"], 5)])

    def _keep_timeline(self, event: Event) -> None:
        """Keep the lanes of this step for the page, a few times a second and always for the last step."""
        spans = self._spans.pop(event["step"], [])
        is_last = event["step"] + 1 == self._run.config["steps"]
        if event["step"] and (is_last or time.monotonic() - self._timeline_at >= TIMELINE_EVERY_S):
            self._timeline_at = time.monotonic()
            self._live["timeline"] = timeline(event["step"], spans, len(event["ranks"]))
            self._unpublished.append(("timeline", self._live["timeline"]))

    def _publish(self) -> None:
        if any(self._new.values()):
            figures = {key: value for key, value in self._live.items() if key != "timeline"}
            self._unpublished.append(("progress", {**self._new, **figures}))
            self._points += self._new["points"]
            self._twin += self._new["twin"]
            self._new = {"points": [], "twin": []}
        if self._unpublished:
            events.publish_many("run", self._run.public_id, self._unpublished)
            self._unpublished = []

    def _fields(self) -> dict[str, Any]:
        return {"facts": self._facts, "points": self._points, "twin": self._twin, "live": self._live}

    def _store(self) -> bool:
        """Write what is known and renew the lease; False when the row is no longer ours."""
        fields = {"result": None, "reason": "", **self._fields(), "lease_until": timezone.now() + self._lease}
        return rows.update(Run, self._run.pk, self._token, **fields)

    def _finish(self, event: Event) -> None:
        """Store the end first and tell the page afterwards, so that a reload never shows less than the page."""
        self._publish()
        result = event if event["event"] == "done" else None
        state = {"done": Run.State.DONE, "cancelled": Run.State.CANCELLED}.get(event["event"], Run.State.FAILED)
        reason = event.get("reason", "It was stopped on request." if state == Run.State.CANCELLED else "")
        fields = {**self._fields(), "result": result, "reason": reason}
        if rows.finish(Run, self._run.pk, self._token, state, **fields):
            data = {"state": state, "reason": reason, "result": result}
            events.publish("run", self._run.public_id, "state", data, final=True)


def timeline(step: int, spans: list[Event], ranks: int) -> dict[str, Any]:
    """One step as lanes: `{"step", "ms", "lanes": [[[name, start, end, bucket, bytes], …], …]}`.

    One lane a rank; times in milliseconds from the start of the step's first span. `bucket` is -1 for computation.
    """
    start = min((span["start"] for span in spans), default=0.0)
    end = max((span["end"] for span in spans), default=0.0)
    lanes: list[list[list[Any]]] = [[] for _ in range(ranks)]
    for span in sorted(spans, key=lambda span: float(span["start"])):
        is_comm = span["event"] == "comm"
        lanes[span["rank"]].append(
            [
                span["op"] if is_comm else span["name"],
                round(1000 * (span["start"] - start), 3),
                round(1000 * (span["end"] - start), 3),
                span["bucket"] if is_comm else -1,
                span["bytes"] if is_comm else 0,
            ]
        )
    return {"step": step, "ms": round(1000 * (end - start), 3), "lanes": lanes}
