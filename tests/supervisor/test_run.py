"""`./dev run` from the outside: it starts everything, restarts what dies, and leaves nothing behind however it ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest
from celery import Celery

from pixelbank.supervisor import processes
from tests.conftest import wait_until
from tests.environment import ROOT
from tests.site import Site

pytestmark = [pytest.mark.workers, pytest.mark.slow]


def get(address: str) -> int:
    with urllib.request.urlopen(address, timeout=10) as answer:
        return int(answer.status)


def test_it_restarts_what_dies_and_ctrl_c_stops_everything() -> None:
    with Site() as site:
        assert get(f"{site.address}/healthz") == 200
        # Every worker answers over the broker, so each really consumes its queue.
        app = Celery(broker=f"redis+socket://{site.var}/run/valkey.sock")
        queues = {f"{queue}@{socket.gethostname()}" for queue in processes.QUEUES}
        wait_until(lambda: queues <= set(app.control.inspect(timeout=1).ping() or {}), 30)
        assert "ended with status" not in site.log()

        # A second one on the same state folder is refused in one sentence.
        second = subprocess.run(
            [sys.executable, "-m", "pixelbank.supervisor", "--port", "0"],
            cwd=ROOT,
            env=site.env,
            capture_output=True,
            text=True,
            timeout=30,
        )
        assert second.returncode == 1
        assert "already runs from this folder" in second.stderr
        assert "Traceback" not in second.stderr

        # A killed worker comes back.
        killed = site.pid("-Q feeds")
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: "feeds was killed by signal 9; starting it again" in site.log())
        wait_until(lambda: any("-Q feeds" in line and pid != killed for pid, line in site.processes().items()))

        assert site.stop(signal.SIGINT) == 0
        assert site.processes() == {}
        assert "all stopped" in site.log()
        assert "Traceback" not in site.log()


def test_even_a_killed_supervisor_leaves_no_process() -> None:
    with Site() as site:
        os.kill(site.process.pid, signal.SIGKILL)
        wait_until(lambda: site.processes() == {}, 20, "processes outlived the supervisor")


def test_a_taken_port_is_one_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        site = Site()
        done = subprocess.run(
            [sys.executable, "-m", "pixelbank.supervisor", "--port", port],
            cwd=ROOT,
            env=site.env,
            capture_output=True,
            text=True,
            timeout=30,
        )
    assert done.returncode == 1
    assert f"Can't listen on 127.0.0.1 port {port}" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [["--port", "70000"], ["--port", "many"], ["--colour"]])
def test_bad_arguments_are_explained(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pixelbank.supervisor", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=30
    )
    assert done.returncode == 2
    assert "usage: ./dev run" in done.stderr
