"""Reads of the training room, for its own pages and for the rooms above."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Count
from django.http import HttpRequest

from pixelbank.learners.models import Learner
from training.models import Run

LIVE = (Run.State.QUEUED, Run.State.RUNNING)


def own_runs(learner: Learner | None, limit: int = 20) -> list[Run]:
    """A learner's runs, newest first, without their curves."""
    if learner is None:
        return []
    return list(Run.objects.filter(learner=learner).defer("points", "twin", "live")[:limit])


def live_run(learner: Learner | None) -> Run | None:
    """The one run of a learner that waits or runs."""
    return None if learner is None else Run.objects.filter(learner=learner, state__in=LIVE).first()


def latest_finished() -> Run | None:
    """The last run of anybody that came to its end with a certificate; a run holds nothing personal."""
    return Run.objects.filter(state=Run.State.DONE).order_by("-finished_at").first()


def waiting_before(run: Run) -> int:
    """How many runs are ahead of a waiting one."""
    return Run.objects.filter(state__in=LIVE, created_at__lt=run.created_at).count()


def may_follow(_request: HttpRequest, public_id: UUID) -> bool:
    """Whoever knows a run's address may watch it; only its owner may cancel it."""
    return Run.objects.filter(public_id=public_id).exists()


def is_finished(public_id: UUID) -> bool:
    """Whether the stored run has an end state (or is gone)."""
    return not Run.objects.filter(public_id=public_id, state__in=LIVE).exists()


def snapshot(public_id: UUID) -> dict[str, Any] | None:
    """The stored state of a run, in the shape that the page's element reads."""
    run = Run.objects.filter(public_id=public_id).first()
    return None if run is None else snapshot_of(run)


def snapshot_of(run: Run) -> dict[str, Any]:
    """See `snapshot`."""
    return {
        "state": run.state,
        "reason": run.reason,
        "attempt": run.token,
        "steps": run.config.get("steps", 0),
        "ranks": run.config.get("ranks", 0),
        "facts": run.facts,
        "points": run.points,
        "twin": run.twin,
        "live": run.live,
        "result": run.result,
    }


def export(learner: Learner) -> list[dict[str, Any]]:
    """Everything kept about a learner's runs."""
    fields = ("public_id", "created_at", "finished_at", "state", "reason", "strategy", "config", "points", "result")
    return list(Run.objects.filter(learner=learner).values(*fields))


def runs_by_state() -> dict[str, float]:
    """For the metrics: how many runs are in each state."""
    counts = Run.objects.order_by().values_list("state").annotate(Count("pk"))
    return dict.fromkeys(Run.State.values, 0.0) | {state: float(count) for state, count in counts}
