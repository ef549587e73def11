"""Writes of the training room."""

from __future__ import annotations

import logging
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from pixelbank.core import events, rows
from pixelbank.learners.models import Learner
from training import selectors
from training.attempt import Attempt
from training.engine.client import Launcher, LauncherUnavailable, WarmLauncher
from training.engine.config import ConfigError, RunConfig
from training.models import Run

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=10)
MAX_ATTEMPTS = 2  # a run whose worker or launcher died starts once more from its first step; then it is lost
RESEND_AFTER = timedelta(seconds=30)
MAX_WAITING = 50
LOST = "The process that ran it died, and so did the one that tried again: start the run anew."


class RunRefused(Exception):
    """The run is not started; the message is for the learner. `instead` is the run that is in the way, if any."""

    def __init__(self, message: str, instead: Run | None = None) -> None:
        super().__init__(message)
        self.instead = instead


def start_run(learner: Learner, config: RunConfig) -> Run:
    """Store a run and have a worker told about it on commit. One live run a learner; raises RunRefused."""
    from training.tasks import run as task  # tasks call services, so this way round only when it is needed

    if Run.objects.filter(state=Run.State.QUEUED).count() >= MAX_WAITING:
        raise RunRefused(f"{MAX_WAITING} runs are already waiting: come back in some minutes.")
    try:
        with transaction.atomic():
            run = Run.objects.create(learner=learner, strategy=config.strategy, config=config.to_json())
            rows.enqueue_on_commit(run, task, "training")
    except IntegrityError:
        instead = selectors.live_run(learner)
        if instead is None:  # it ended this very moment
            return start_run(learner, config)
        raise RunRefused("You have a run already: one at a time. Cancel it, or wait for its end.", instead) from None
    return run


def cancel_run(run: Run) -> None:
    """Ask a run to stop. A waiting one stops here and now, a running one when its worker sees it (within 0.3 s)."""
    waiting = Run.objects.filter(pk=run.pk, state=Run.State.QUEUED)
    reason = "It was cancelled before it began."
    if waiting.update(state=Run.State.CANCELLED, reason=reason, finished_at=timezone.now()):
        events.publish("run", run.public_id, "state", {"state": Run.State.CANCELLED, "reason": reason}, final=True)
        return
    Run.objects.filter(pk=run.pk, state=Run.State.RUNNING).update(cancel_requested=True)


def perform(pk: int, launcher: Launcher | None = None) -> None:
    """Run a stored run to its end: what the Celery task does. A second delivery of the same message does nothing."""
    token = rows.claim(Run, pk, lease=LEASE, max_attempts=MAX_ATTEMPTS)
    if token is None:
        return
    run = Run.objects.get(pk=pk)
    try:
        handle = (launcher or WarmLauncher(Path(settings.TRAINING_SOCKET))).start(run.run_config)
    except LauncherUnavailable as error:
        log.warning("Run %s waits: %s", run.public_id, error)
        rows.release(Run, pk, token)
        Run.objects.filter(pk=pk, state=Run.State.QUEUED).update(reason=str(error))
        events.publish("run", run.public_id, "state", {"state": Run.State.QUEUED, "reason": str(error)})
        return
    except ConfigError as error:
        _end(run, token, Run.State.FAILED, str(error))
        return
    try:
        interrupted = Attempt(run, token, handle, LEASE).go()
    finally:
        handle.close()
    if interrupted and token >= MAX_ATTEMPTS:
        _end(run, token, Run.State.LOST, LOST)
    elif interrupted and rows.update(
        Run, pk, token, state=Run.State.QUEUED, reason=interrupted, lease_until=None, enqueued_at=None
    ):
        events.publish("run", run.public_id, "state", {"state": Run.State.QUEUED, "reason": interrupted})


def sweep() -> int:
    """Start again what dead workers left behind, once; after that the run is lost."""
    from training.tasks import run as task

    return rows.sweep(
        Run,
        lambda run: rows.send(run, task, "training"),
        older_than=RESEND_AFTER,
        max_attempts=MAX_ATTEMPTS,
        on_exhausted=lambda run: _end(run, run.token, Run.State.LOST, LOST),
    )


def merge(source: Learner, target: Learner) -> None:
    """At sign-up of somebody who has a live run on both sides: the older account's one goes on."""
    if selectors.live_run(target) is not None and (run := selectors.live_run(source)) is not None:
        # Not a request to the worker but the end itself: the worker finds itself fenced off and lets its ranks go.
        Run.objects.filter(pk=run.pk).update(
            state=Run.State.CANCELLED, reason="Another run of your account goes on.", finished_at=timezone.now()
        )


def _end(run: Run, token: int, state: str, reason: str) -> None:
    if rows.finish(Run, run.pk, token, state, reason=reason):
        events.publish("run", run.public_id, "state", {"state": state, "reason": reason}, final=True)
