"""The warm launcher: a small daemon that has imported torch once and forks a run in milliseconds.

    python -m training.engine.launcher --socket var/run/training.sock

For each connection it forks a supervisor (its own session), which forks the ranks. Nothing outlives its parent: ranks
die with their supervisor and supervisors with this daemon (PDEATHSIG, so also after kill -9), and a run dies with the
connection of whoever asked for it. It listens before it has imported torch: who connects early just waits.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import logging
import os
import shutil
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from training.engine.client import short_address
from training.engine.threads import one_thread_each

log = logging.getLogger("training.launcher")


@contextlib.contextmanager
def listening(path: Path) -> Iterator[socket.socket]:
    """A listening Unix socket at `path`, for its owner only; gone again afterwards.

    Raises SystemExit with one sentence if another launcher has that place.
    """
    lock = os.open(path.with_suffix(".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise SystemExit(f"Another training launcher already listens at {path}; stop that one first.") from None
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        before = os.umask(0o177)
        with short_address(path) as address:
            listener.bind(address)
        os.umask(before)
        listener.listen(64)
        listener.setblocking(False)
        yield listener
    path.unlink(missing_ok=True)


def main(argv: list[str] | None = None) -> None:
    """Listen, get warm, serve."""
    parser = argparse.ArgumentParser(prog="python -m training.engine.launcher", description="The warm launcher.")
    parser.add_argument("--socket", type=Path, required=True, help="where to listen (made with mode 0600)")
    parser.add_argument("--runs", type=Path, help="folder for files of runs; default: training-runs beside the socket")
    arguments = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s", stream=sys.stderr)
    path: Path = arguments.socket.absolute()
    runs: Path = (arguments.runs or path.parent / "training-runs").absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    with listening(path) as listener:
        shutil.rmtree(runs, ignore_errors=True)  # what a killed predecessor left
        runs.mkdir(parents=True)
        one_thread_each()
        from training.engine import daemon, warm  # torch: only now, with the socket open

        warm.warm_up()
        if (count := warm.threads()) != 1:
            log.warning("%d threads run in the launcher, but forking is only safe with one.", count)
        took = time.monotonic() - started
        log.info("Ready after %.1f s at %s.", took, path)
        daemon.Daemon(listener, runs, took).serve()


if __name__ == "__main__":
    main()
