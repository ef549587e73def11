"""One supervised process: started in a group of its own, its output prefixed, stopped with all its children."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

GRACE_S = 8.0
"""How long a process may take to end after SIGTERM before its whole group is killed."""

_PR_SET_PDEATHSIG = 1


def _die_with_the_supervisor() -> None:
    """In the child, before exec: the kernel kills it when the supervisor dies, even by SIGKILL (prctl(2))."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


@dataclass(slots=True)
class Child:
    name: str
    argv: list[str]
    env: dict[str, str]
    log_dir: Path
    echo: Callable[[str, str], None]
    tell_guard: Callable[[str], None]
    process: asyncio.subprocess.Process | None = None
    started_at: float = 0.0
    quick_deaths: int = 0
    _pump: asyncio.Task[None] | None = field(default=None, repr=False)

    async def start(self) -> None:
        self.process = await asyncio.create_subprocess_exec(
            *self.argv,
            env=self.env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_die_with_the_supervisor,
        )
        self.tell_guard(f"+{self.process.pid}")
        self.started_at = time.monotonic()
        self._pump = asyncio.create_task(self._copy_output())

    async def _copy_output(self) -> None:
        assert self.process is not None  # noqa: S101 - set by start()
        assert self.process.stdout is not None  # noqa: S101 - set by start()
        with (self.log_dir / f"{self.name}.log").open("ab") as log:
            while line := await self._line(self.process.stdout):
                log.write(line)
                log.flush()
                self.echo(self.name, line.decode("utf-8", "replace").rstrip())

    @staticmethod
    async def _line(stream: asyncio.StreamReader) -> bytes:
        try:
            return await stream.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            return error.partial
        except asyncio.LimitOverrunError as error:
            return await stream.readexactly(error.consumed)

    async def wait(self) -> int:
        assert self.process is not None  # noqa: S101 - set by start()
        return await self.process.wait()

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.returncode is None

    async def stop(self) -> None:
        """SIGTERM, wait, then SIGKILL for the whole group: also for what the process itself left running."""
        if self.process is None:
            return
        if self.running:
            self.process.send_signal(signal.SIGTERM)
            try:
                await asyncio.wait_for(self.process.wait(), GRACE_S)
            except TimeoutError:
                self.echo(self.name, f"did not end within {GRACE_S:.0f} s; killing it")
        self.kill_group()
        await self.process.wait()
        if self._pump is not None:
            # The pipe closes when the last process of the group is gone.
            await asyncio.wait([self._pump], timeout=2)
            self._pump.cancel()

    def kill_group(self) -> None:
        assert self.process is not None  # noqa: S101 - set by start()
        with contextlib.suppress(ProcessLookupError):  # the group is empty: nothing was left behind
            os.killpg(self.process.pid, signal.SIGKILL)
        self.tell_guard(f"-{self.process.pid}")
