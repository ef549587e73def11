"""Real Celery workers: a run from the page to its end, a worker killed in the middle, and no torch on this side."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from pixelbank.core.redis import client
from pixelbank.core.rows import claim
from pixelbank.learners.models import Learner
from tests.conftest import Worker, run_python, wait_until
from tests.training.conftest import children, is_alive
from training import services
from training.engine.client import WarmLauncher
from training.engine.config import RunConfig
from training.models import Run

LONG = RunConfig(model="nano", ranks=2, steps=2000, parity_steps=0, deadline_s=100.0)


def when(run: Run, condition: Callable[[Run], bool], within_s: float = 60.0) -> Run:
    """Wait until the stored run is as wanted."""

    def look() -> bool:
        run.refresh_from_db()
        return condition(run)

    wait_until(look, within_s, f"the run stayed {run.state}: {run.reason}")
    return run


def ranks_of(launcher: WarmLauncher) -> list[int]:
    """Supervisors and ranks that the launcher has now."""
    supervisors = children(int(launcher.ping()["pid"]))
    return [*supervisors, *(rank for supervisor in supervisors for rank in children(supervisor))]


@pytest.mark.workers
def test_a_run_from_start_to_certificate_and_another_cancelled(
    launcher: WarmLauncher, celery_worker_process: Worker
) -> None:
    learner = Learner.objects.create()
    with celery_worker_process("training"):
        run = services.start_run(learner, RunConfig(model="nano", ranks=2, steps=30))
        when(run, lambda run: run.is_finished)
        assert (run.state, run.reason) == ("done", "")
        assert [step for step, _ in run.points] == list(range(30))
        assert run.certificate is not None
        assert run.certificate["holds"]
        assert client().exists(f"events:run:{run.public_id}")

        run = services.start_run(learner, LONG)
        when(run, lambda run: len(run.points) > 0)
        family = ranks_of(launcher)
        assert len(family) >= 3
        services.cancel_run(run)
        when(run, lambda run: run.is_finished, 10)
        assert (run.state, run.reason) == ("cancelled", "It was stopped on request.")
        wait_until(lambda: not any(map(is_alive, family)), 5)


@pytest.mark.workers
def test_kill_9_of_the_worker_in_the_middle_of_a_run(
    launcher: WarmLauncher, celery_worker_process: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice: after the first the run starts again with the next worker, after the second it is lost. No rank stays."""
    monkeypatch.setattr("training.services.RESEND_AFTER", timedelta(0))
    run = Run.objects.create(learner=Learner.objects.create(), config=LONG.to_json())
    for attempt in (1, 2):
        Run.objects.filter(pk=run.pk).update(points=[])  # so that points mean that this attempt trains
        with celery_worker_process("training") as worker:
            services.sweep()  # sends what waits
            when(run, lambda run, attempt=attempt: run.token == attempt and len(run.points) > 0)  # type: ignore[misc]
            family = ranks_of(launcher)
            assert len(family) >= 3
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()
            wait_until(lambda family=family: not any(map(is_alive, family)), 5)  # type: ignore[misc]
        # Nobody holds the row now. Its lease runs out (here at once), and the sweep finds it.
        run.refresh_from_db()
        assert run.state == "running"
        assert run.lease_until is not None
        assert run.lease_until < timezone.now() + services.LEASE
        Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
        services.sweep()
        run.refresh_from_db()
        assert run.state == ("queued" if attempt == 1 else "lost")
    assert run.reason == services.LOST
    assert claim(Run, run.pk, lease=services.LEASE) is None


def test_web_and_workers_never_import_torch() -> None:
    code = """
import json, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "pixelbank.settings"
from pixelbank.celery import app
app.loader.import_default_modules()
import pixelbank.asgi, pixelbank.urls
import training.views, training.services, training.summary, training.tasks
print(json.dumps([name for name in sys.modules if name.split(".")[0] in ("torch", "numpy")]))
print(json.dumps([task for task in app.tasks if task.startswith("training.")]))
"""
    done = run_python(code)
    assert done.returncode == 0, done.stderr
    modules, tasks = map(json.loads, done.stdout.splitlines())
    assert "torch" not in modules
    assert sorted(tasks) == ["training.run", "training.sweep"]
