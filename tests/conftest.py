"""Shared fixtures: a real Valkey for the whole session, and real Celery workers where they matter.

The suite runs on SQLite, or on the database that DATABASE_URL names (tests/postgres.py starts one).
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import pytest

from pixelbank.supervisor.valkey import answers
from tests.environment import ROOT, SERVER, SHARED, STATE

Worker = Callable[..., AbstractContextManager[subprocess.Popen[bytes]]]


def wait_until(condition: Callable[[], object], within_s: float = 20.0, message: str = "") -> object:
    """Ask until the answer is true and return it; fail the test when time is up."""
    deadline = time.monotonic() + within_s
    while True:
        if answer := condition():
            return answer
        if time.monotonic() > deadline:
            pytest.fail(message or f"still not so after {within_s} s: {condition}")
        time.sleep(0.02)


def pytest_configure(config: pytest.Config) -> None:
    server = subprocess.Popen(SERVER.argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    config.stash[_valkey] = server
    deadline = time.monotonic() + 20
    while not answers(SERVER.url):
        if time.monotonic() > deadline or server.poll() is not None:
            raise pytest.UsageError("the test session's Valkey did not start")
        time.sleep(0.02)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what touches the database and what starts real workers; `tests/postgres.py` selects by these."""
    for item in items:
        names = set(getattr(item, "fixturenames", ()))
        if item.get_closest_marker("django_db") or names & {"db", "transactional_db"}:
            item.add_marker(pytest.mark.database)
        if "celery_worker_process" in names:
            item.add_marker(pytest.mark.workers)


_valkey: pytest.StashKey[subprocess.Popen[bytes]] = pytest.StashKey()


def pytest_unconfigure(config: pytest.Config) -> None:
    if server := config.stash.get(_valkey, None):
        server.terminate()
        server.wait(10)
    shutil.rmtree(STATE, ignore_errors=True)


@pytest.fixture
def valkey() -> Iterator[str]:
    """The session's Valkey, emptied before the test; its address."""
    from pixelbank.core.redis import client

    client().flushall()
    return os.environ["REDIS_URL"]


@pytest.fixture
def celery_worker_process(transactional_db: None, valkey: str) -> Worker:
    """`with celery_worker_process("judge") as worker:` — a real worker on this test's database and Valkey.

    The process is in a group of its own: `os.killpg(worker.pid, signal.SIGKILL)` kills it with its pool.
    """
    from django.db import connection

    name = connection.settings_dict["NAME"]
    if connection.vendor == "sqlite":
        url = f"sqlite:///{name}"
    else:
        from urllib.parse import urlsplit, urlunsplit

        url = urlunsplit(urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}"))

    @contextmanager
    def start(
        queue: str, *, concurrency: int = 1, env: dict[str, str] | None = None
    ) -> Iterator[subprocess.Popen[bytes]]:
        from pixelbank.supervisor import processes

        argv = processes.worker(queue)
        argv[argv.index("-c") + 1] = str(concurrency)
        log = (STATE / f"worker-{queue}.log").open("ab")
        worker = subprocess.Popen(
            argv,
            env={**os.environ, "DATABASE_URL": url, **(env or {})},
            cwd=ROOT,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield worker
        finally:
            if worker.poll() is None:
                worker.terminate()
                with suppress(subprocess.TimeoutExpired):
                    worker.wait(10)
            with suppress(ProcessLookupError):
                os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()
            log.close()

    return start


@pytest.fixture(scope="session")
def corpus() -> Path:
    """../shared/corpus: other people's documents and hostile submissions, never part of the project."""
    folder = SHARED / "corpus"
    if not folder.is_dir():
        pytest.skip("../shared/corpus is not beside this checkout")
    return folder


def run_python(code: str, cwd: Path = ROOT, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a snippet in a fresh interpreter of this environment."""
    return subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True, timeout=60
    )
