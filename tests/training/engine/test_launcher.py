"""The warm launcher: quick, private, and nothing ever outlives what it belongs to."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import wait_until
from tests.environment import ROOT
from tests.training.conftest import (
    answering,
    children,
    end_process,
    finish,
    is_alive,
    of_kind,
    start_launcher,
    until_step,
)
from training.engine.client import LauncherUnavailable, WarmLauncher
from training.engine.config import RunConfig

LONG = RunConfig(model="nano", ranks=2, steps=2000, parity_steps=0)


def test_it_is_single_threaded_and_private(launcher: WarmLauncher) -> None:
    pong = launcher.ping()
    assert pong["threads"] == 1
    mode = launcher.path.stat().st_mode
    assert stat.S_ISSOCK(mode)
    assert stat.S_IMODE(mode) == 0o600


def test_a_run_begins_at_once(launcher: WarmLauncher) -> None:
    """Importing torch alone takes seconds; the first step of a warm run must not pay for it."""
    finish(launcher.start(RunConfig(model="nano", ranks=2, steps=1, parity_steps=0)))
    started = time.monotonic()
    run = launcher.start(RunConfig(model="nano", ranks=2, steps=3, parity_steps=0))
    until_step(run, 0)
    took = time.monotonic() - started
    finish(run)
    assert took < launcher.ping()["warm_up_s"]


def test_cancel_ends_every_rank(launcher: WarmLauncher) -> None:
    run = launcher.start(LONG)
    _, pids = until_step(run, 3)
    assert len(pids) == 2
    assert all(map(is_alive, pids))
    run.cancel()
    assert finish(run)[-1] == {"event": "cancelled"}
    assert not any(map(is_alive, pids))


def test_a_client_that_goes_away_ends_every_rank(launcher: WarmLauncher) -> None:
    run = launcher.start(LONG)
    _, pids = until_step(run, 3)
    run.close()
    wait_until(lambda: not any(map(is_alive, pids)), 5)


def test_a_killed_rank_is_named_and_the_others_end(launcher: WarmLauncher) -> None:
    run = launcher.start(LONG)
    events, pids = until_step(run, 3)
    victim = next(event for event in of_kind(events, "ready") if event["rank"] == 1)
    end_process(victim["pid"])
    last = finish(run)
    assert last[-1] == {"event": "failed", "reason": "Rank 1 was killed by signal 9."}
    assert of_kind(last, "fault")[0]["reason"] == "Rank 1 was killed by signal 9."
    assert not any(map(is_alive, pids))


def test_a_killed_supervisor_takes_its_ranks_along(launcher: WarmLauncher) -> None:
    run = launcher.start(LONG)
    _, pids = until_step(run, 3)
    supervisor = int(Path(f"/proc/{pids[0]}/stat").read_text().rpartition(")")[2].split()[1])
    end_process(supervisor)
    rest = finish(run)
    assert not [event for event in rest if event["event"] in ("done", "failed")]
    wait_until(lambda: not any(map(is_alive, pids)), 5)


def test_an_overdue_run_fails_with_a_reason(launcher: WarmLauncher) -> None:
    events = finish(launcher.start(RunConfig(model="small", ranks=2, steps=2000, parity_steps=0, deadline_s=2.0)))
    assert events[-1] == {"event": "failed", "reason": "The run was not finished within its limit of 2 seconds."}
    pids = [event["pid"] for event in of_kind(events, "ready")]
    assert len(pids) == 2
    assert not any(map(is_alive, pids))


def test_a_diverging_run_says_what_to_do(launcher: WarmLauncher) -> None:
    events = finish(launcher.start(RunConfig(model="nano", optimizer="sgd", learning_rate=10.0, steps=100)))
    assert events[-1]["event"] == "failed"
    assert "the training diverged, so lower the learning rate." in events[-1]["reason"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b'{"op": "start", "config": {"ranks": 99}}\n', "ranks is 99"),
        (b'{"op": "start", "config": {"code": "print(1)"}}\n', "no setting named 'code'"),
        (b'{"op": "shell"}\n', "understands"),
        (b"[]\n", "understands"),
        (b"not json\n", "Expecting value"),
    ],
)
def test_what_is_no_run_is_refused(launcher: WarmLauncher, line: bytes, says: str) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(os.path.relpath(launcher.path))
        connection.sendall(line)
        answer = json.loads(connection.makefile().readline())
    assert answer["event"] == "refused"
    assert says in answer["reason"]


def test_finished_runs_leave_no_files_and_no_processes(
    launcher: WarmLauncher, launcher_process: subprocess.Popen[bytes]
) -> None:
    finish(launcher.start(RunConfig(model="nano", steps=3)))
    runs = launcher.path.parent / "training-runs"
    wait_until(lambda: not children(launcher_process.pid) and not list(runs.iterdir()), 5)


def test_nobody_at_the_socket_is_one_clear_sentence(tmp_path: Path) -> None:
    with pytest.raises(LauncherUnavailable, match=r"not running: start it with \./dev run"):
        WarmLauncher(tmp_path / "none.sock").ping()
    with pytest.raises(LauncherUnavailable):
        WarmLauncher(tmp_path / "no" / "folder.sock").start(LONG)


@pytest.mark.slow
def test_a_second_one_stays_away_and_the_end_of_the_first_ends_all(tmp_path: Path) -> None:
    folder = tmp_path / ("deep" * 30)  # longer than the address of a Unix socket may be
    path = folder / "t.sock"
    process = start_launcher(path)
    launcher = WarmLauncher(path)
    wait_until(lambda: answering(launcher), 60)
    second = subprocess.run(
        [sys.executable, "-m", "training.engine.launcher", "--socket", str(path)],
        cwd=ROOT, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert second.returncode == 1
    assert second.stderr == f"Another training launcher already listens at {path}; stop that one first.\n"

    run = launcher.start(LONG)
    _, pids = until_step(run, 3)
    process.send_signal(signal.SIGTERM)
    rest = finish(run)
    assert rest[-1] == {
        "event": "interrupted",
        "reason": "The training launcher was stopped while the run was going on.",
    }
    assert process.wait(10) == 0
    assert not any(map(is_alive, pids))
    assert not path.exists()

    process = start_launcher(path)
    wait_until(lambda: answering(launcher), 60)
    run = launcher.start(LONG)
    _, pids = until_step(run, 3)
    family = [*children(process.pid), *pids]
    assert len(family) == 3
    process.kill()
    process.wait()
    wait_until(lambda: not any(map(is_alive, family)), 5)
    run.close()
