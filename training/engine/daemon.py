"""The daemon behind `launcher`: accepts connections and forks a supervisor for each, which forks the ranks.

The daemon stays single-threaded and never touches CUDA, or forking would not be safe.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import selectors
import shutil
import signal
import socket
import sys
import time
import traceback
from pathlib import Path
from types import FrameType

import torch

from training.engine import gang, warm
from training.engine.client import Event
from training.engine.config import ConfigError, RunConfig

MAX_RUNS = 16  # supervisors at once; the site queues long before
REQUEST_TIMEOUT_S = 5.0
SEND_TIMEOUT_S = 10.0
STOP_GRACE_S = 2.0

log = logging.getLogger("training.launcher")


class Daemon:
    """Accepts connections and forks a supervisor for each."""

    def __init__(self, listener: socket.socket, runs: Path, warm_up_s: float) -> None:
        self._runs = runs
        self._pong: Event = {"ok": True, "torch": torch.__version__, "warm_up_s": round(warm_up_s, 3)}
        self._children: set[int] = set()
        self._stopping = False
        self._listener = listener
        self._wake_read, self._wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def serve(self) -> None:
        """Fork supervisors until SIGTERM or SIGINT, then end them all."""
        signal.set_wakeup_fd(self._wake_write)
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)  # only to wake the loop up
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._wake_read, selectors.EVENT_READ)
            while not self._stopping:
                ready = {key.fileobj for key, _ in selector.select()}
                if self._wake_read in ready:
                    os.read(self._wake_read, 4096)
                    self._reap()
                if self._listener in ready and not self._stopping:
                    self._accept()
        self._end_children()

    def _stop(self, _number: int, _frame: FrameType | None) -> None:
        self._stopping = True

    def _accept(self) -> None:
        try:
            connection = self._listener.accept()[0]
        except (BlockingIOError, ConnectionAbortedError):  # the client has already gone
            return
        with connection:
            if len(self._children) >= MAX_RUNS:
                reason = f"{MAX_RUNS} runs are already going on: try again in a minute."
                with contextlib.suppress(OSError):
                    connection.sendall(json.dumps({"event": "refused", "reason": reason}).encode() + b"\n")
                return
            daemon = os.getpid()
            pid = os.fork()
            if pid == 0:
                self._supervise(daemon, connection)
            self._children.add(pid)

    def _supervise(self, daemon: int, connection: socket.socket) -> None:
        """The forked child; never returns."""
        status = 1
        try:
            gang.die_with_parent(daemon)
            os.setsid()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, _terminated)
            for number in (self._listener.fileno(), self._wake_read, self._wake_write):
                os.close(number)
            serve_connection(connection, self._runs / str(os.getpid()), self._pong)
            status = 0
        except BaseException:  # noqa: BLE001 - a forked child must end here, not go on in the daemon's loop
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)

    def _reap(self) -> None:
        for pid in list(self._children):
            if os.waitpid(pid, os.WNOHANG)[0]:
                self._children.discard(pid)
                shutil.rmtree(self._runs / str(pid), ignore_errors=True)

    def _end_children(self) -> None:
        """SIGTERM, a moment to end their ranks, then SIGKILL (which their ranks do not survive either)."""
        for pid in self._children:
            os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + STOP_GRACE_S
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake_read, selectors.EVENT_READ)
            self._reap()
            while self._children and selector.select(max(0.0, deadline - time.monotonic())):
                os.read(self._wake_read, 4096)
                self._reap()
        for pid in list(self._children):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _terminated(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def serve_connection(connection: socket.socket, run_dir: Path, pong: Event) -> None:
    """Read one request and answer it: a pong, or a whole run."""
    connection.settimeout(REQUEST_TIMEOUT_S)
    data = b""
    try:
        while b"\n" not in data and len(data) < 1 << 16:
            chunk = connection.recv(1 << 16)
            if not chunk:
                return
            data += chunk
    except TimeoutError:
        return
    connection.settimeout(SEND_TIMEOUT_S)
    line, _, more = data.partition(b"\n")
    try:
        request = json.loads(line)
        if not isinstance(request, dict) or request.get("op") not in ("ping", "start"):
            raise ConfigError('The launcher understands {"op": "ping"} and {"op": "start", "config": {…}}.')
        if request["op"] == "ping":
            answer = {**pong, "pid": os.getppid(), "threads": warm.threads()}
        else:
            config = RunConfig.from_mapping(request.get("config") or {})
            answer = _run(config, connection, run_dir, is_cancelled=bool(more))
    except (ConfigError, json.JSONDecodeError) as error:
        answer = {"event": "refused", "reason": str(error)}
    with contextlib.suppress(OSError):  # nobody is left to read it
        _send(connection, [answer])


def _run(config: RunConfig, connection: socket.socket, run_dir: Path, *, is_cancelled: bool) -> Event:
    """Run to the end, sending all events but the last, which is returned."""
    run_dir.mkdir()

    def emit(events: list[Event]) -> None:
        _send(connection, [event for event in events if event["event"] != "done"])

    try:
        if is_cancelled:
            raise gang.RunCancelled
        return gang.run(config, run_dir=run_dir, emit=emit, control=connection.fileno())
    except gang.RunCancelled:
        return {"event": "cancelled"}
    except gang.RunFailed as failure:
        return {"event": "failed", "reason": str(failure)}
    except OSError as error:  # the client takes no more events; the ranks have ended
        log.warning("A run was given up: its client does not listen (%s).", error)
        return {"event": "cancelled"}
    except SystemExit:
        return {"event": "interrupted", "reason": "The training launcher was stopped while the run was going on."}


def _send(connection: socket.socket, events: list[Event]) -> None:
    if events:
        connection.sendall(b"".join(json.dumps(event).encode() + b"\n" for event in events))
