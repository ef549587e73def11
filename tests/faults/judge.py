"""kill -9 of worker, pool process, waiting interpreter, child and Valkey, at random, while submissions are judged.

    .venv/bin/python -m tests.faults.judge

A real Valkey, a real Celery worker of the queue ``judge`` (restarted when it dies, as the supervisor does), the site's
own services, a database of its own. What beat would do every ten seconds is done here. In the end each submission must
have exactly one verdict, the right one, and no process and no control group may be left. Exit status 1 otherwise.
"""

# ruff: noqa: T201, E402 - what it prints is its result; the environment comes before Django

from __future__ import annotations

import argparse
import logging
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
(ROOT / "var").mkdir(exist_ok=True)
STATE = Path(tempfile.mkdtemp(prefix="f-", dir=ROOT / "var"))
(STATE / "run").mkdir()

from pixelbank.supervisor import processes
from pixelbank.supervisor.valkey import answers, embedded

SERVER = embedded(STATE)
os.environ |= {
    "DJANGO_SETTINGS_MODULE": "pixelbank.settings", "PIXELBANK_ENV": "test", "PIXELBANK_VAR": str(STATE),
    "DATABASE_URL": f"sqlite:///{STATE / 'faults.sqlite3'}", "REDIS_URL": SERVER.url, "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}  # fmt: skip

import django

django.setup()
logging.disable(logging.WARNING)

from django.core.management import call_command
from django.db.models import Count

from pixelbank.core import events
from pixelbank.core.redis import client
from pixelbank.learners.models import Learner
from problems import services
from problems.judge import cgroup
from problems.models import Problem, Submission

FOLDER = ROOT / "problems/catalogue/numericalgradient/submissions"
GOOD = (FOLDER / "accepted/copy_and_restore.py").read_text()
SOURCES = {  # by the verdict that is right
    "AC": [GOOD, GOOD.replace("    slopes = ", "    import time\n    time.sleep(0.02)\n    slopes = ", 1)],
    "WA": [(FOLDER / "wrong_answer/missing_two.py").read_text()],
}
KINDS = {"worker": 2, "pool process": 2, "interpreter": 3, "child": 4, "valkey": 2}  # by how often
SWEEP_S = 10.0
EVERY_S = (2.0, 7.0)  # between two kills
SENT_EVERY_S = 0.5  # four submissions
QUIET_S = 240.0  # to finish when the killing is over


class Services:
    """Valkey and the worker, started again when they die."""

    def __init__(self) -> None:
        self.log = (STATE / "worker.log").open("ab")
        self.seen: dict[int, psutil.Process] = {}
        self.valkey = self._start_valkey()
        self.worker = self._start_worker()

    def _start_valkey(self) -> subprocess.Popen[bytes]:
        server = subprocess.Popen(SERVER.argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while not answers(SERVER.url) and time.monotonic() < deadline:
            time.sleep(0.02)
        return server

    def _start_worker(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            processes.worker("judge"), cwd=ROOT, stdout=self.log, stderr=subprocess.STDOUT, start_new_session=True
        )

    def look_after(self) -> None:
        if self.valkey.poll() is not None:
            self.valkey = self._start_valkey()
        if self.worker.poll() is not None:
            self.worker = self._start_worker()
        for process in self.family():
            self.seen.setdefault(process.pid, process)

    def family(self) -> list[psutil.Process]:
        with suppress(psutil.NoSuchProcess):
            return psutil.Process(self.worker.pid).children(recursive=True)
        return []

    def victims(self, kind: str) -> list[psutil.Process]:
        """Processes of this kind that run now."""
        if kind == "valkey":
            return [psutil.Process(self.valkey.pid)] if self.valkey.poll() is None else []
        if kind == "worker":
            return [psutil.Process(self.worker.pid)] if self.worker.poll() is None else []
        found = []
        for process in self.family():
            with suppress(psutil.NoSuchProcess):
                above = [parent.name() for parent in process.parents()]
                depth = above.index("bwrap") if "bwrap" in above else -1
                ours = {-1: "pool process" if process.name() != "bwrap" else "", 0: "interpreter", 1: "child"}
                if ours.get(depth) == kind:
                    found.append(process)
        return found

    def stop(self) -> None:
        self.look_after()
        self.worker.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.worker.wait(30)
        with suppress(ProcessLookupError):
            os.killpg(self.worker.pid, signal.SIGKILL)
        self.worker.wait()
        self.valkey.terminate()
        self.valkey.wait()
        self.log.close()


def orphans(seen: dict[int, psutil.Process], within_s: float = 10.0) -> list[psutil.Process]:
    """Of the processes that were seen, those that are still there."""
    deadline = time.monotonic() + within_s
    while True:
        left = [process for process in seen.values() if process.is_running()]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.05)


def groups() -> int:
    """Control groups of dead judges, after the sweep that every judge makes at its start."""
    cgroup.sweep()
    parents = set(cgroup._own(Path("/sys/fs/cgroup")).values())
    owners = [path.name.split("-")[2] for parent in parents for path in parent.glob(f"{cgroup.PREFIX}*")]
    return sum(not psutil.pid_exists(int(owner)) for owner in owners)


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill parts of the judge while it judges.")
    parser.add_argument("--submissions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    call_command("migrate", verbosity=0)
    services.load_content()
    problem = Problem.objects.get(name="numericalgradient")
    learners = [Learner.objects.create() for _ in range(options.submissions // 10 + 1)]
    running, killed = Services(), Counter[str]()
    right: dict[int, str] = {}
    sent = swept = next_kill = time.monotonic()
    begin, quiet_from = time.monotonic(), 0.0
    while True:
        running.look_after()
        now = time.monotonic()
        if len(right) < options.submissions and now > sent + SENT_EVERY_S:
            sent = now
            for _ in range(4):
                verdict = chance.choice(list(SOURCES))
                row = services.submit(learners[len(right) // 10], problem, chance.choice(SOURCES[verdict]), "submit")
                right[row.pk] = verdict
        if now > swept + SWEEP_S:
            swept = now
            services.sweep()
        done = Submission.objects.filter(state="done").count()
        if done == options.submissions:
            break
        if done < options.submissions * 0.95 and now > next_kill:
            kind = chance.choices(list(KINDS), list(KINDS.values()))[0]
            if done and (victims := running.victims(kind)):
                with suppress(psutil.NoSuchProcess):
                    chance.choice(victims).send_signal(signal.SIGKILL)
                    killed[kind] += 1
            next_kill = now + chance.uniform(*EVERY_S)
        elif done >= options.submissions * 0.95:
            quiet_from = quiet_from or now
        if quiet_from and now > quiet_from + QUIET_S:
            break
        time.sleep(0.1)
    took = time.monotonic() - begin
    announced = Counter(
        sum(fields["kind"] == "verdict" for _, fields in client().xrange(events.key("submission", row.public_id)))
        for row in Submission.objects.all()
    )
    running.stop()
    left, leftover = orphans(running.seen), groups()

    rows = list(Submission.objects.annotate(count=Count("cases")).order_by("pk"))
    lost = [row.pk for row in rows if row.state != "done" or not row.verdict]
    given_up = [row.pk for row in rows if row.verdict == "JE"]
    wrong = [row.pk for row in rows if row.verdict not in (right[row.pk], "JE", "")]
    torn = [row.pk for row in rows if row.verdict in ("AC", "WA") and row.count != row.total]
    twice = sum(count for times, count in announced.items() if times > 1)
    print(f"{len(rows)} submissions in {took:.0f} s; killed: {dict(killed)}")
    print(f"attempts: {dict(sorted(Counter(row.token for row in rows).items()))}")
    print(f"lost: {len(lost)}; wrong verdict: {len(wrong)}; given up after three killed attempts: {len(given_up)}")
    print(f"verdicts without all of their cases: {len(torn)}; verdicts announced twice: {twice}")
    print(f"processes left: {len(left)}; control groups of dead judges left: {leftover}")
    bad = bool(lost or wrong or torn or twice or left or leftover or len(rows) != options.submissions)
    if not bad:
        shutil.rmtree(STATE, ignore_errors=True)
    else:
        print(f"the state is kept in {STATE.relative_to(ROOT)}", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
