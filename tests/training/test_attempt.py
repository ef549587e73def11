"""The relay between a launcher and the row, with a launcher played by a list of events."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from pixelbank.core import events, rows
from pixelbank.core.redis import client
from pixelbank.learners.models import Learner
from tests.training.conftest import Event
from training import services
from training.attempt import Attempt, timeline
from training.engine.client import LauncherUnavailable
from training.engine.config import RunConfig
from training.models import Run

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey")]
CONFIG = RunConfig(model="nano", steps=2)
START = {
    "event": "start", "device": "cpu", "backend": "gloo", "note": "On the CPU.", "baselines": {"uniform": 4.2},
    "torch": "2.13.0",
}  # fmt: skip
DONE = {"event": "done", "loss": 3.0, "parity": {"holds": True}, "params_sha256": "ab", "bytes_per_step": 8}


def steps(*losses: float) -> list[Event]:
    found: list[Event] = []
    for step, loss in enumerate(losses):
        at = float(step)
        for rank in (0, 1):
            where = {"rank": rank, "step": step}
            found += [
                {"event": "span", "name": "forward", "start": at, "end": at + 0.25, **where},
                {"event": "comm", "op": "all_reduce", "bucket": 0, "bytes": 8, "start": at + 0.25, "end": at + 0.5}
                | where,
                {"event": "span", "name": "optimizer", "start": at + 0.5, "end": at + 0.75, **where},
            ]
        ranks = [{"rank": 0}, {"rank": 1}]
        found.append({"event": "step", "step": step, "loss": loss, "tokens_per_s": 10.0, "bytes": 8, "ranks": ranks})
    return found


class Played:
    """A run handle that plays its batches; a callable among them is called and stands for silence."""

    def __init__(self, *batches: list[Event] | Callable[[], object]) -> None:
        self.batches = list(batches)
        self.calls: list[str] = []

    def start(self, config: RunConfig) -> Played:
        self.config = config
        return self

    def events(self, timeout: float) -> list[Event] | None:
        if "cancel" in self.calls:
            return [{"event": "cancelled"}]
        if not self.batches:
            return None
        batch = self.batches.pop(0)
        if callable(batch):
            batch()
            return []
        return batch

    def cancel(self) -> None:
        self.calls.append("cancel")

    def close(self) -> None:
        self.calls.append("close")


@pytest.fixture
def run() -> Run:
    return Run.objects.create(learner=Learner.objects.create(), config=CONFIG.to_json())


def streamed(run: Run) -> list[tuple[str, str]]:
    entries: Any = client().xrange(events.key("run", run.public_id))
    return [(fields["kind"], fields.get("final", "")) for _, fields in entries]


def test_a_run_is_kept_with_its_curve_its_figures_and_its_end(run: Run) -> None:
    twin = [{"event": "twin", "step": step, "loss": 4.0} for step in (0, 1)]
    played = Played([START, *steps(4.0, 3.0)], twin, [DONE])
    services.perform(run.pk, played)
    run.refresh_from_db()
    assert (run.state, run.token, run.lease_until) == ("done", 1, None)
    assert run.finished_at is not None
    assert run.points == [[0, 4.0], [1, 3.0]]
    assert run.twin == [[0, 4.0], [1, 4.0]]
    assert run.live["ranks"] == [2, 2]
    assert (run.live["bytes"], run.live["timeline"]["step"]) == (8, 1)
    assert run.facts["baselines"] == {"uniform": 4.2}
    assert run.certificate == {"holds": True}
    assert played.config == CONFIG
    assert played.calls == ["close"]
    kinds = streamed(run)
    assert kinds[0] == ("restart", "")
    assert kinds[-1] == ("state", "1")
    assert {"facts", "progress", "timeline"} <= {kind for kind, _ in kinds}


@pytest.mark.parametrize(
    ("end", "state", "reason"),
    [
        ([{"event": "failed", "reason": "Rank 1 was killed."}], "failed", "Rank 1 was killed."),
        ([{"event": "refused", "reason": "Too many runs."}], "failed", "Too many runs."),
        ([{"event": "cancelled"}], "cancelled", "It was stopped on request."),
    ],
)
def test_every_other_end_is_named(run: Run, end: list[Event], state: str, reason: str) -> None:
    services.perform(run.pk, Played([START, *steps(4.0)], end))
    run.refresh_from_db()
    assert (run.state, run.reason, run.result) == (state, reason, None)
    assert run.points == [[0, 4.0]]


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        ([[{"event": "interrupted", "reason": "The launcher was stopped."}]], "The launcher was stopped."),
        ([], "The process that ran it ended without a word."),
    ],
)
def test_a_launcher_that_goes_away_costs_one_attempt_two_cost_the_run(
    run: Run, end: list[list[Event]], reason: str
) -> None:
    services.perform(run.pk, Played([START, *steps(4.0)], *end))
    run.refresh_from_db()
    assert (run.state, run.reason, run.token, run.lease_until) == ("queued", reason, 1, None)
    assert not any(final for _, final in streamed(run))
    services.perform(run.pk, Played([START], *end))
    run.refresh_from_db()
    assert (run.state, run.reason) == ("lost", services.LOST)
    assert streamed(run)[-1] == ("state", "1")


def test_a_second_delivery_does_nothing(run: Run) -> None:
    services.perform(run.pk, Played([DONE]))
    second = Played([DONE])
    services.perform(run.pk, second)
    assert second.calls == []


def test_a_cancel_request_reaches_the_launcher(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.attempt.LOOK_EVERY_S", 0.0)
    played = Played([START], lambda: services.cancel_run(Run.objects.get(pk=run.pk)), [])
    services.perform(run.pk, played)
    run.refresh_from_db()
    assert run.state == "cancelled"
    assert played.calls[0] == "cancel"


def test_a_worker_that_lost_the_row_lets_go_and_writes_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.attempt.LOOK_EVERY_S", 0.0)
    played = Played([START], lambda: Run.objects.filter(pk=run.pk).update(token=2), [DONE])
    services.perform(run.pk, played)
    run.refresh_from_db()
    assert (run.state, run.token, run.result) == ("running", 2, None)
    assert played.calls == ["close"]
    assert not any(final for _, final in streamed(run))


def test_a_deleted_run_ends(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.attempt.LOOK_EVERY_S", 0.0)
    played = Played([START], lambda: Run.objects.all().delete(), [DONE])
    services.perform(run.pk, played)
    assert played.calls == ["close"]


def test_a_second_attempt_begins_with_an_empty_curve(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(token=1, points=[[0, 9.0]], reason="The worker died.")
    token = rows.claim(Run, run.pk, lease=timedelta(seconds=5))
    assert token == 2
    seen: list[Any] = []
    played = Played(lambda: seen.append(Run.objects.get(pk=run.pk)), [DONE])
    Attempt(run, token, played, timedelta(seconds=5)).go()
    assert (seen[0].points, seen[0].reason) == ([], "")


def test_without_a_launcher_the_run_waits_and_says_why(run: Run) -> None:
    class Absent:
        def start(self, config: RunConfig) -> Played:
            raise LauncherUnavailable("The training launcher is not running.")

    services.perform(run.pk, Absent())
    run.refresh_from_db()
    assert (run.state, run.token, run.reason) == ("queued", 0, "The training launcher is not running.")
    services.perform(run.pk, Played([DONE]))
    run.refresh_from_db()
    assert (run.state, run.reason) == ("done", "")


def test_a_timeline_starts_at_zero_and_keeps_bytes() -> None:
    drawn = timeline(1, steps(4.0, 3.0)[7:13], ranks=2)
    assert drawn["ms"] == 750.0
    assert drawn["lanes"][1] == [
        ["forward", 0.0, 250.0, -1, 0],
        ["all_reduce", 250.0, 500.0, 0, 8],
        ["optimizer", 500.0, 750.0, -1, 0],
    ]
