"""The command line's contract: JSON lines on stdout, sentences on stderr, exit status 0, 2 or 4."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import wait_until
from tests.environment import ROOT, STATE
from tests.training.conftest import children, is_alive

ENGINE = [sys.executable, "-m", "training.engine"]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*ENGINE, *words], cwd=ROOT, capture_output=True, text=True, timeout=100)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nonsense", "--ranks", "2"], "strategy cannot be 'nonsense': choose one of ddp, single."),
        (["ddp", "--ranks", "0"], "ranks is 0, but it must lie between 1 and 8."),
        (["ddp", "--steps", "1000000000"], "steps is 1000000000, but it must lie between 1 and 2000."),
        (["ddp", "--seed", "2147483648"], "seed is 2147483648, but it must lie between 0 and 2147483647."),
        (["ddp", "--learning-rate", "25"], "learning_rate is 25, but it must lie between 1e-06 and 10."),
        (["ddp", "--ranks", "two"], "Argument --ranks: invalid int value: 'two'; --help lists what can be given."),
        ([], "The following arguments are required: strategy; --help lists what can be given."),
    ],
)
def test_bad_arguments_are_one_sentence_and_status_2(words: list[str], says: str) -> None:
    done = run(*words)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", says + "\n")


def test_a_run_prints_json_lines_and_ends_with_done() -> None:
    words = ["ddp", "--ranks", "2", "--steps", "6", "--seed", "3", "--device", "auto", "--model", "nano", "--json"]
    done = run(*words)
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert {"step", "span", "comm"} <= {event["event"] for event in events}
    last = events[-1]
    assert last["event"] == "done"
    assert set(last["parity"]) >= {"max_dparam", "max_dloss", "tolerance", "holds"}
    assert last["parity"]["holds"] is True
    assert len(last["params_sha256"]) == 64
    assert last["loss"] > 0
    assert last["tokens_per_s"] > 0
    assert not list((STATE / "runs").iterdir())


def test_a_failed_run_is_status_4_with_its_reason() -> None:
    done = run("ddp", "--steps", "2000", "--model", "small", "--deadline-s", "1", "--json")
    assert done.returncode == 4
    assert done.stderr == "The run was not finished within its limit of 1 seconds.\n"
    assert json.loads(done.stdout.splitlines()[-1])["event"] == "fault"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_ranks_die_with_the_command(number: signal.Signals, tmp_path: Path) -> None:
    output = (tmp_path / "events").open("wb")
    words = ["ddp", "--steps", "2000", "--json", "--run-dir", str(tmp_path / "run")]
    process = subprocess.Popen([*ENGINE, *words], cwd=ROOT, stdout=output, stderr=subprocess.DEVNULL)
    wait_until(lambda: b'"event": "step"' in (tmp_path / "events").read_bytes(), 60)
    ranks = children(process.pid)
    assert len(ranks) == 2
    os.kill(process.pid, number)
    assert process.wait(10) == (143 if number == signal.SIGTERM else -9)
    wait_until(lambda: not any(map(is_alive, ranks)), 5)
    output.close()
