"""Starting, cancelling, sweeping and merging runs."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from pixelbank.core.rows import claim
from pixelbank.learners.models import Learner
from training import selectors, services
from training.engine.config import RunConfig
from training.models import Run

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey")]
CONFIG = RunConfig(model="nano", steps=3)


@pytest.fixture
def learner() -> Learner:
    return Learner.objects.create()


def expire(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_one_live_run_a_learner(learner: Learner) -> None:
    run = services.start_run(learner, CONFIG)
    with pytest.raises(services.RunRefused, match="one at a time") as refusal:
        services.start_run(learner, CONFIG)
    assert refusal.value.instead == run
    services.start_run(Learner.objects.create(), CONFIG)
    services.cancel_run(run)
    assert services.start_run(learner, CONFIG).pk != run.pk


def test_a_long_queue_is_closed(learner: Learner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.services.MAX_WAITING", 1)
    services.start_run(Learner.objects.create(), CONFIG)
    with pytest.raises(services.RunRefused, match="come back in some minutes"):
        services.start_run(learner, CONFIG)
    assert not Run.objects.filter(learner=learner).exists()


def test_a_waiting_run_is_cancelled_at_once_and_never_begins(learner: Learner) -> None:
    run = services.start_run(learner, CONFIG)
    services.cancel_run(run)
    run.refresh_from_db()
    assert (run.state, run.reason) == ("cancelled", "It was cancelled before it began.")
    assert claim(Run, run.pk, lease=timedelta(seconds=5)) is None


def test_a_dead_worker_costs_one_attempt_two_cost_the_run(learner: Learner, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    monkeypatch.setattr("pixelbank.core.rows.send", lambda row, task, queue: sent.append(row.pk))
    run = services.start_run(learner, CONFIG)
    assert claim(Run, run.pk, lease=services.LEASE, max_attempts=services.MAX_ATTEMPTS) == 1
    services.sweep()
    run.refresh_from_db()
    assert (run.state, sent) == ("running", [])  # its lease is still good

    expire(run)
    Run.objects.filter(pk=run.pk).update(created_at=timezone.now() - timedelta(minutes=5))
    services.sweep()
    run.refresh_from_db()
    assert (run.state, sent) == ("queued", [run.pk])

    assert claim(Run, run.pk, lease=services.LEASE, max_attempts=services.MAX_ATTEMPTS) == 2
    expire(run)
    services.sweep()
    run.refresh_from_db()
    assert (run.state, run.reason) == ("lost", services.LOST)
    assert run.is_finished
    assert selectors.is_finished(run.public_id)


def test_at_sign_up_only_one_live_run_goes_on(learner: Learner) -> None:
    from pixelbank.learners.services import merge

    visitor = Learner.objects.create()
    ended = services.start_run(visitor, CONFIG)
    services.cancel_run(ended)
    theirs, own = services.start_run(visitor, CONFIG), services.start_run(learner, CONFIG)
    merge(visitor, learner)
    assert set(Run.objects.filter(learner=learner)) == {ended, theirs, own}
    assert selectors.live_run(learner) == own
    theirs.refresh_from_db()
    assert (theirs.state, theirs.reason) == ("cancelled", "Another run of your account goes on.")


def test_what_is_kept_can_be_exported_and_deleted(learner: Learner) -> None:
    run = services.start_run(learner, CONFIG)
    (exported,) = selectors.export(learner)
    assert (exported["public_id"], exported["config"]) == (run.public_id, CONFIG.to_json())
    learner.delete()
    assert not Run.objects.exists()


def test_the_snapshot_is_plain_json(learner: Learner) -> None:
    import json

    run = services.start_run(learner, CONFIG)
    snapshot = selectors.snapshot(run.public_id)
    assert json.loads(json.dumps(snapshot)) == snapshot
    assert snapshot is not None
    assert (snapshot["state"], snapshot["steps"], snapshot["ranks"]) == ("queued", 3, 2)
    assert selectors.snapshot(Learner.objects.create().public_id) is None
    assert selectors.runs_by_state() == dict.fromkeys(Run.State.values, 0.0) | {"queued": 1.0}
