"""The containers' health checks, against the real things: a server, a socket, a file, a worker."""

from __future__ import annotations

import http.server
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT, Worker, wait_until


def check(*arguments: str, **env: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "docker/healthcheck.py", *arguments],
        cwd=ROOT,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        good = self.path == "/healthz" and self.headers["Host"] == "pixelbank.example"
        self.send_response(200 if good else 400)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def port() -> Iterator[str]:
    with http.server.HTTPServer(("127.0.0.1", 0), Site) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield str(server.server_port)
        server.shutdown()
        thread.join()


def test_http_asks_by_a_name_that_the_site_answers_to(port: str) -> None:
    assert check("http", port, ALLOWED_HOSTS=".pixelbank.example, other.example") == (0, "")
    assert check("http", port, ALLOWED_HOSTS="other.example") == (1, "/healthz answers 400\n")


def test_http_without_a_server() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        code, said = check("http", str(probe.getsockname()[1]))
    assert code == 1
    assert said.startswith("ConnectionRefusedError")


def test_socket(tmp_path: Path) -> None:
    path = tmp_path / "s"
    assert check("socket", str(path))[0] == 1
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        assert check("socket", str(path)) == (0, "")


def test_fresh(tmp_path: Path) -> None:
    path = tmp_path / "beat-schedule"
    assert check("fresh", str(path), "400") == (1, f"{path} does not exist\n")
    written = tmp_path / "beat-schedule.db"
    written.touch()
    assert check("fresh", str(path), "400")[0] == 0
    os.utime(written, (time.time() - 500, time.time() - 500))
    assert check("fresh", str(path), "400")[0] == 1


def test_an_unknown_question_shows_how_to_ask() -> None:
    code, said = check("nonsense")
    assert code == 2
    assert "healthcheck.py http 8000" in said


@pytest.mark.workers
@pytest.mark.slow
def test_worker(celery_worker_process: Worker) -> None:
    assert check("worker", "feeds")[0] == 1
    with celery_worker_process("feeds"):
        wait_until(lambda: check("worker", "feeds")[0] == 0, within_s=60, message="the worker never answered")
