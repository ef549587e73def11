"""What the training room tells the rest of the site: is the launcher there, and what has a learner done here."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.urls import reverse

from pixelbank.learners.models import Learner
from pixelbank.learners.registry import Entry, Figure, Overview
from training import selectors
from training.engine.client import LauncherUnavailable, WarmLauncher
from training.models import Run


def launcher_health() -> str | None:
    """None when the warm launcher answers, else one sentence."""
    try:
        WarmLauncher(Path(settings.TRAINING_SOCKET)).ping()
    except LauncherUnavailable as error:
        return str(error)
    return None


def overview(learner: Learner) -> Overview | None:
    """The training part of the learner's own page."""
    runs = selectors.own_runs(learner, limit=3)
    if not runs:
        return None
    finished = Run.objects.filter(learner=learner, state=Run.State.DONE).count()
    entries = [Entry(str(run), run.get_absolute_url(), f"{run.config.get('steps')} steps") for run in runs]
    return Overview("Training runs", reverse("training:lab"), [Figure("Runs finished", finished)], entries)
