"""The cold sandbox: one bubblewrap and one fresh Python per submission.

Slow, and needs least of the machine: no nested namespaces, no /proc. It is used where the warm one cannot be, and is
what tests/bench/judge.py compares with.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from problems.judge import bwrap, cgroup
from problems.judge.conversation import Conversation, Ended, Pipes
from problems.judge.sandbox import Limits, SandboxError, required

START_SECONDS = 20.0  # for a jail to say hello, on a busy machine; learners' time does not run yet
_slots = itertools.count()


class _Jail:
    """One bubblewrap process with its control group: the ``End`` of a conversation."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.process: subprocess.Popen[bytes] | None = None
        self.pidfd = -1
        self.group = cgroup.create(limits.memory, limits.processes)
        self._cpu = 0.0

    def adopt(self, info: int) -> None:
        """Learn the jailed process's id from bwrap, hold it by a pidfd, and put it under its control group."""
        with os.fdopen(info, "rb") as stream:
            ready, _, _ = select.select([stream], [], [], START_SECONDS)
            said = stream.read(4096) if ready else b""
        if not said:
            raise Ended("died", "bubblewrap said nothing")
        pid = int(json.loads(said)["child-pid"])
        self.pidfd = os.pidfd_open(pid)
        if self.group is not None:
            self.group.add(pid)

    def kill(self) -> None:
        """SIGKILL to the jail's first process: the kernel then ends everything in its pid namespace. Waits for that."""
        process = self.process
        if process is None or process.returncode is not None:
            return
        if self.pidfd >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        else:
            os.kill(process.pid, signal.SIGKILL)  # not process.kill(), which would also reap it
        deadline = time.monotonic() + 5.0
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                self._cpu = usage.ru_utime + usage.ru_stime
                return
            if time.monotonic() > deadline:
                os.kill(process.pid, signal.SIGKILL)
                deadline = time.monotonic() + 5.0
            select.select([], [], [], 0.001)  # bwrap is reaping; there is no descriptor that announces it

    def cause(self) -> tuple[str, str]:
        self.kill()
        if self.group is not None and self.group.out_of_memory():
            return "memory", ""
        if self._cpu >= self.limits.cpu_seconds:
            return "timeout", "processor time"
        code = self.process.returncode if self.process else 0
        return "died", died_of(code - 128 if code > 128 else -code, code)

    def close(self) -> None:
        if self.pidfd >= 0:
            os.close(self.pidfd)
            self.pidfd = -1
        if self.group is not None:
            self.group.remove()
            self.group = None


def died_of(number: int, code: int) -> str:
    """How a process ended, in words: by this signal, else with this exit status."""
    with suppress(ValueError):
        return f"killed by {signal.Signals(number).name}"
    return f"ended with exit status {code}"


class ColdSandbox:
    """Starts a complete jail per submission."""

    def __init__(self, path: Path, jail: Path = bwrap.JAIL) -> None:
        self.path, self.jail = path, jail
        self._interpreters: dict[str, bwrap.Interpreter] = {}
        self._grouped: bool | None = None

    @property
    def profile(self) -> str:
        return "no-cgroup" if self._grouped is False else "full"

    def start(self, limits: Limits) -> Conversation:
        """A child that has proved its jail, else SandboxError: no learner code goes to a jail that lacks anything."""
        pipes, end = Pipes(), _Jail(limits)
        child_in, child_out, printed = pipes.open()
        info, child_info = os.pipe2(os.O_CLOEXEC)
        child = Conversation(pipes, limits, end)
        try:
            end.process = subprocess.Popen(
                self._command(child_in, child_out, child_info, limits), stdin=subprocess.DEVNULL, stdout=printed,
                stderr=printed, pass_fds=(child_in, child_out, child_info), env={}, cwd="/",
            )  # fmt: skip
        except OSError as error:
            os.close(info)
            child.close()
            raise SandboxError(f"bubblewrap could not be started: {error.strerror}") from None
        finally:
            for fd in (child_in, child_out, printed, child_info):
                os.close(fd)
        try:
            end.adopt(info)
            missing = required(child.hello(time.monotonic() + START_SECONDS))
            if self._grouped and end.group is None:
                missing = "a control group could not be made any more"
        except (Ended, OSError, ValueError, KeyError) as error:
            end.kill()
            with suppress(Ended):
                child.drain()
            said = child.text().strip().splitlines()
            missing = said[-1] if said else f"the sandbox ended before it was ready ({error})"
        if missing:
            child.close()
            raise SandboxError(missing)
        self._grouped = end.group is not None
        return child

    def _command(self, incoming: int, outgoing: int, info: int, limits: Limits) -> list[str]:
        interpreter = self._interpreters.get(limits.library)
        if interpreter is None:
            interpreter = self._interpreters[limits.library] = bwrap.Interpreter.current(limits.library)
        user = bwrap.uid(os.getpid() * 7 + next(_slots))
        numbers = (
            incoming, outgoing, user, limits.address_space, limits.cpu_seconds, limits.file_size, limits.processes,
        )  # fmt: skip
        return bwrap.command(
            self.path, interpreter, "runner", numbers, user=user, jail=self.jail, tmp_size=limits.tmp_size,
            options=("--info-fd", str(info)),
        )  # fmt: skip

    def close(self) -> None:
        """Nothing is kept running between submissions."""
