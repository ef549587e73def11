"""A real warm launcher for the whole session (importing torch takes seconds), and small helpers around runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import wait_until
from tests.environment import ROOT, STATE
from training.engine.client import LauncherUnavailable, WarmLauncher, WarmRun
from training.engine.config import RunConfig

Event = dict[str, Any]


def start_launcher(path: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "training.engine.launcher", "--socket", str(path)], cwd=ROOT)


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children(pid: int) -> list[int]:
    """The living children of a process."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(parent) == pid and state != "Z":
                found.append(int(folder.name))
    return found


def answering(launcher: WarmLauncher) -> bool:
    try:
        launcher.ping(timeout=30)
    except LauncherUnavailable:
        return False
    return True


@pytest.fixture(scope="session")
def launcher_process() -> Iterator[subprocess.Popen[bytes]]:
    process = start_launcher(STATE / "run" / "training.sock")
    launcher = WarmLauncher(STATE / "run" / "training.sock")
    wait_until(lambda: answering(launcher), 60, "the warm launcher did not come up")
    yield process
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0


@pytest.fixture(scope="session")
def launcher(launcher_process: subprocess.Popen[bytes]) -> WarmLauncher:
    return WarmLauncher(STATE / "run" / "training.sock")


def finish(run: WarmRun) -> list[Event]:
    """All events of a run, up to its end."""
    events: list[Event] = []
    while (batch := run.events(60)) is not None:
        assert batch, "the run said nothing for a minute"
        events += batch
    run.close()
    return events


def until_step(run: WarmRun, step: int) -> tuple[list[Event], list[int]]:
    """Events until a step is done, and the process ids of the ranks."""
    events: list[Event] = []
    while not any(event["event"] == "step" and event["step"] >= step for event in events):
        batch = run.events(60)
        assert batch, "the run ended or went silent too early"
        events += batch
    return events, [event["pid"] for event in events if event["event"] == "ready"]


@pytest.fixture(scope="session")
def completed(launcher: WarmLauncher) -> Callable[..., list[Event]]:
    """`completed(ranks=2)`: the events of a finished run of the nano model, each config run once a session."""
    cache: dict[RunConfig, list[Event]] = {}

    def run(**settings: Any) -> list[Event]:
        config = RunConfig(**{"model": "nano", "steps": 20, **settings})
        if config not in cache:
            cache[config] = finish(launcher.start(config))
        return cache[config]

    return run


def of_kind(events: list[Event], kind: str) -> list[Event]:
    return [event for event in events if event["event"] == kind]


def end_process(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
