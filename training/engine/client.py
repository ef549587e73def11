"""How other processes have runs started: the `Launcher` interface and its first kind, the warm daemon. No torch here.

The wire is a Unix socket with one JSON object a line. The client says {"op": "ping"} or {"op": "start", "config": {…}};
after `start` come the events of the run, the last of them one of `done`, `failed`, `cancelled`, `refused` or, when the
launcher is stopped in the middle, `interrupted`. During the run the client may say {"op": "cancel"}. If the client goes
away, the run ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from training.engine.config import RunConfig

Event = dict[str, Any]
LAST_EVENTS = frozenset({"done", "failed", "cancelled", "refused", "interrupted"})


class LauncherUnavailable(Exception):
    """Nobody answers at the launcher's socket; the message says what to do about it."""


class RunHandle(Protocol):
    """A run that was started."""

    def events(self, timeout: float) -> list[Event] | None:
        """What happened since the last call, waiting up to `timeout` seconds; None when nothing more will come."""
        ...

    def cancel(self) -> None:
        """Ask the run to stop; its last event says that it did."""
        ...

    def close(self) -> None:
        """Let go of the run. A run that has not ended is killed."""
        ...


class Launcher(Protocol):
    """Something that can start ranks: the warm daemon here, later torchrun on several hosts."""

    def start(self, config: RunConfig) -> RunHandle:
        """Start a run. Raises LauncherUnavailable."""
        ...


class WarmLauncher:
    """The daemon of `training.engine.launcher` behind a Unix socket."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def start(self, config: RunConfig, timeout: float = 20.0) -> WarmRun:
        """Start a run. A daemon that is still importing torch accepts it and begins as soon as it is warm."""
        run = WarmRun(self._connect(timeout))
        run.send({"op": "start", "config": config.to_json()})
        return run

    def ping(self, timeout: float = 2.0) -> Event:
        """Ask for a sign of life: the daemon forks a child that answers with {pid, torch, threads, warm_up_s}."""
        with self._connect(timeout) as connection:
            try:
                connection.sendall(b'{"op": "ping"}\n')
                answer = connection.recv(1 << 16)
            except OSError as error:
                raise LauncherUnavailable(
                    "The training launcher does not answer: it may still be importing torch, which takes some seconds."
                ) from error
        if not answer:
            raise LauncherUnavailable("The training launcher closed the connection: look at its log.")
        pong: Event = json.loads(answer)
        return pong

    def _connect(self, timeout: float) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(timeout)
        try:
            with short_address(self.path) as address:
                connection.connect(address)
        except OSError as error:
            connection.close()
            raise LauncherUnavailable(
                "The training launcher is not running: start it with ./dev run, "
                "or by itself with python -m training.engine.launcher."
            ) from error
        return connection


class WarmRun:
    """The client's end of one run."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._rest = b""

    def send(self, message: Event) -> None:
        """One line to the supervisor; if it has gone, `events` will say so."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._connection.sendall(json.dumps(message).encode() + b"\n")

    def events(self, timeout: float) -> list[Event] | None:
        """See RunHandle."""
        if not select.select([self._connection], [], [], timeout)[0]:
            return []
        try:
            chunk = self._connection.recv(1 << 18)
        except ConnectionResetError:
            return None
        if not chunk:
            return None
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        return [json.loads(line) for line in lines]

    def cancel(self) -> None:
        """See RunHandle."""
        self.send({"op": "cancel"})

    def close(self) -> None:
        """See RunHandle."""
        self._connection.close()


@contextlib.contextmanager
def short_address(path: Path) -> Iterator[str]:
    """A name for a Unix socket that is short enough, however deep its folder lies.

    The kernel takes at most 107 bytes, but /proc/self/fd/N leads to an open folder of any depth.
    """
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
