"""The warm sandbox: an interpreter waits inside the jail with everything imported and forks a child per submission.

Children are forked before they are needed: one that is taken has its namespaces, limits and filter already, has said
what it found, and is still empty. Nothing of a submission passes through the interpreter that forks; it is started anew
after ``RECYCLE_AFTER`` children and after anything unexpected.
"""

from __future__ import annotations

import itertools
import os
import select
import signal
import socket
import subprocess
import threading
import time
import weakref
from collections import OrderedDict, deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from problems.judge import bwrap, cgroup
from problems.judge.cold import died_of
from problems.judge.conversation import Conversation, Ended, Pipes
from problems.judge.jail import zygote as inside
from problems.judge.sandbox import Limits, SandboxError, required

START_SECONDS: Final = {"numpy": 30.0, "torch": 120.0}  # to import on a busy machine; learners' time does not run yet
FORK_SECONDS: Final = 10.0
SPARE: Final = 2  # children that wait, for each set of limits in use
KINDS: Final = 3  # sets of limits for which children wait
RECYCLE_AFTER: Final = 500
GOING_SECONDS: Final = 1.0  # between the end of a process's pipes and its own end

_slots = itertools.count()
_Key = tuple[int, ...]


def _key(limits: Limits) -> _Key:
    """What a child is forked with: children of equal keys are interchangeable."""
    return (
        limits.address_space, limits.cpu_seconds, limits.file_size, limits.processes, limits.tmp_size, limits.memory,
    )  # fmt: skip


class _Fork:
    """One forked child as the judge holds it: the ``End`` of a conversation."""

    def __init__(self, zygote: _Zygote, key: _Key, limits: Limits, pipes: Pipes, group: cgroup.Group | None) -> None:
        self.zygote, self.key, self.limits = zygote, key, limits
        self.pipes, self.group = pipes, group
        self.pidfd = -1
        self.failure = ""
        self.exit: tuple[int, float] | None = None  # wait status and seconds of processor time
        self.closed = False

    def kill(self) -> None:
        if self.pidfd >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def cause(self) -> tuple[str, str]:
        if not self.wait(GOING_SECONDS):
            self.kill()
            return "died", "it closed its connection to the judge"
        status, cpu = self.zygote.exit_of(self)
        if self.group is not None and self.group.out_of_memory():
            return "memory", ""
        if cpu >= self.limits.cpu_seconds:
            return "timeout", "processor time"
        code = os.waitstatus_to_exitcode(status)
        if code == -signal.SIGKILL:  # the first process of a pid namespace cannot do that to itself
            self.zygote.tired = True
            raise SandboxError("a sandboxed process was killed from outside")
        return "died", died_of(-code, code)

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self.kill()
            self.zygote.bury(self)

    def release(self) -> None:
        """Close our descriptors of it."""
        self.pipes.close()
        if self.pidfd >= 0:
            os.close(self.pidfd)
            self.pidfd = -1

    def wait(self, seconds: float) -> bool:
        """Whether the process is gone, within this time."""
        gone = select.poll()
        gone.register(self.pidfd, select.POLLIN)
        return bool(gone.poll(seconds * 1000))


class _Zygote:
    """One outer jail with an interpreter that forks, and the children that wait in it."""

    def __init__(self, path: Path, interpreter: bwrap.Interpreter, library: str, jail: Path) -> None:
        self.library = library
        self.tired = False  # something unexpected happened: start another one
        self.orders = 0
        self._jobs = itertools.count(1)
        self._forks: dict[int, _Fork] = {}  # by job, until its exit is known
        self._spare: OrderedDict[_Key, deque[_Fork]] = OrderedDict()
        self._graves: list[cgroup.Group] = []
        cgroup.sweep()
        self._link, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        user = bwrap.uid(os.getpid() * 7 + next(_slots))
        line = bwrap.command(
            path, interpreter, "zygote", (theirs.fileno(), user, library), user=user, jail=jail, proc=True
        )
        try:
            self._process = subprocess.Popen(
                line, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                pass_fds=(theirs.fileno(),), env={}, cwd="/",
            )  # fmt: skip
        except OSError as error:
            self._link.close()
            raise SandboxError(f"bubblewrap could not be started: {error.strerror}") from None
        finally:
            theirs.close()
        try:
            self._listen(time.monotonic() + START_SECONDS[library])
        except SandboxError as error:
            self.end()
            stderr = self._process.stderr
            said = stderr.read(4096).decode("utf-8", "replace").strip().splitlines() if stderr else []
            raise SandboxError(said[-1] if said else str(error)) from None
        finally:
            if self._process.stderr:
                self._process.stderr.close()

    # --- the connection --------------------------------------------------------------------------------------------

    @property
    def pid(self) -> int:
        """The process id of bubblewrap; what it started lives and dies with it."""
        return self._process.pid

    @property
    def usable(self) -> bool:
        """Whether another child may be ordered from it."""
        if self.tired or self.orders >= RECYCLE_AFTER or self._process.poll() is not None:
            return False
        try:
            self._catch_up()
        except SandboxError:
            return False
        return not self.tired

    def _catch_up(self) -> None:
        """Take the messages that are there."""
        while select.select([self._link], [], [], 0)[0]:
            self._listen(time.monotonic())

    def _listen(self, deadline: float) -> None:
        """Wait for one message and note what it says. Raises SandboxError when there is none, or not one of ours."""
        self._link.settimeout(max(deadline - time.monotonic(), 0.001))
        try:
            message, fds, _, _ = socket.recv_fds(self._link, inside.MAX_MESSAGE, 4)
        except TimeoutError:
            self.tired = True
            raise SandboxError("the sandbox did not answer in time") from None
        except OSError as error:
            self.tired = True
            raise SandboxError(f"the connection to the sandbox broke ({error.strerror})") from None
        if len(message) < inside.TOLD.size:
            self.tired = True
            _close(fds)
            raise SandboxError("the sandbox ended")
        kind, job, status, cpu = inside.TOLD.unpack_from(message)
        fork = self._forks.get(job)
        if kind == inside.STARTED and fork is not None and fork.pidfd < 0 and len(fds) == 1:
            fork.pidfd = fds.pop()
            if fork.closed:  # nobody wants it any more
                fork.kill()
                fork.release()
        elif kind == inside.FAILED:
            said = message[inside.TOLD.size :].decode("utf-8", "replace") or "a child could not be started"
            if fork is None:
                raise SandboxError(said)
            fork.failure = said
        elif kind == inside.EXITED and fork is not None:
            fork.exit = (status, cpu)
            del self._forks[job]
        elif kind != inside.READY:
            self.tired = True
        _close(fds)

    def _order(self, key: _Key, limits: Limits) -> _Fork:
        """Ask for a child; it comes into being by itself while we do other things."""
        group = cgroup.create(limits.memory, limits.processes)
        pipes = Pipes()
        ends = pipes.open()
        members = group.open_members() if group is not None else []
        fork = _Fork(self, key, limits, pipes, group)
        self.orders += 1
        job = next(self._jobs)
        self._forks[job] = fork
        order = inside.ORDER.pack(
            job, limits.address_space, limits.cpu_seconds, limits.file_size, limits.processes, limits.tmp_size
        )
        try:
            self._link.settimeout(FORK_SECONDS)
            socket.send_fds(self._link, [order], [*ends, *members])
        except OSError as error:
            self.tired = True
            self._forks.pop(job, None)
            self.bury(fork)
            raise SandboxError(f"the connection to the sandbox broke ({error.strerror})") from None
        finally:
            _close([*ends, *members])
        return fork

    # --- children ----------------------------------------------------------------------------------------------------

    def take(self, limits: Limits) -> tuple[Conversation, bool]:
        """A child for one submission, which has proved its jail and is empty; and whether it has a control group."""
        key = _key(limits)
        waiting = self._spare.setdefault(key, deque())
        self._spare.move_to_end(key)
        fork = waiting.popleft() if waiting else self._order(key, limits)
        while fork.exit is not None or (fork.pidfd >= 0 and fork.wait(0)):  # somebody ended it while it waited
            fork.close()
            fork = waiting.popleft() if waiting else self._order(key, limits)
        fork.limits = limits
        deadline = time.monotonic() + FORK_SECONDS
        while fork.pidfd < 0 and not fork.failure:
            self._listen(deadline)
        child = Conversation(fork.pipes, limits, fork)
        missing: str | None = fork.failure
        try:
            missing = missing or required(child.hello(deadline))
        except Ended as end:
            child.drain()
            said = child.text().strip().splitlines()
            missing = said[-1] if said else f"a child ended before it was ready ({end.status})"
        if missing:
            self.tired = True
            child.close()
            raise SandboxError(missing)
        return child, fork.group is not None

    def refill(self, limits: Limits) -> None:
        """Order children for the next submissions with these limits; let some go when there are too many."""
        key = _key(limits)
        if self.tired or self.orders >= RECYCLE_AFTER or key not in self._spare:
            return
        while len(self._spare[key]) < SPARE:
            self._spare[key].append(self._order(key, limits))
        while len(self._spare) > KINDS:
            _, unwanted = self._spare.popitem(last=False)
            for fork in unwanted:
                fork.close()

    def exit_of(self, fork: _Fork) -> tuple[int, float]:
        """Wait status and processor time of a child that has ended. SandboxError when the whole jail is gone."""
        deadline = time.monotonic() + FORK_SECONDS
        while fork.exit is None:
            self._listen(deadline)
        return fork.exit

    def bury(self, fork: _Fork) -> None:
        """Give back what a child held. Its group can go once the kernel has let go of its processes: see ``tidy``."""
        fork.release()
        if fork.group is not None:
            self._graves.append(fork.group)
            fork.group = None

    def tidy(self) -> None:
        """Remove the groups of children that are gone by now."""
        graves, self._graves = self._graves, []
        self._graves += [group for group in graves if not group.try_remove()]

    # --- the end -----------------------------------------------------------------------------------------------------

    def _forget(self) -> list[_Fork]:
        forks = list(self._forks.values())
        self._spare.clear()
        self._forks.clear()
        return forks

    def end(self) -> None:
        """End the interpreter and all of its children, and wait until they are gone."""
        self.tired = True
        self._link.close()
        self._process.kill()  # it ends with its monitor; so does its pid namespace
        self._process.wait()
        for fork in self._forget():
            if fork.pidfd >= 0:
                fork.kill()
                fork.wait(FORK_SECONDS)
            fork.close()
        for group in self._graves:
            group.remove()
        self._graves.clear()

    def abandon(self) -> None:
        """In a forked copy of the judge's process: close our copies of what belongs to the original, touch nothing."""
        self._link.close()
        self._process.returncode = 0  # not our child
        for fork in self._forget():
            fork.group = None
            fork.release()


def _close(fds: Sequence[int]) -> None:
    for fd in fds:
        os.close(fd)


class WarmSandbox:
    """Children from a waiting interpreter, one interpreter a library. For one process, and one thread of it at a time.

    ``SandboxError`` from ``start`` means that two interpreters in a row gave no complete jail. A sandbox that has had
    control groups gives no child without one.
    """

    def __init__(self, path: Path, jail: Path = bwrap.JAIL) -> None:
        self.path, self.jail = path, jail
        self._interpreters: dict[str, bwrap.Interpreter] = {}
        self._zygotes: dict[str, _Zygote] = {}
        self._owner = os.getpid()
        self._lock = threading.RLock()
        self._grouped: bool | None = None
        self._finalizer = weakref.finalize(self, _end_all, self._zygotes, self._owner)

    @property
    def profile(self) -> str:
        return "no-cgroup" if self._grouped is False else "full"

    def start(self, limits: Limits) -> Conversation:
        """A waiting child, or a new one. A broken interpreter is replaced once before SandboxError is raised."""
        with self._lock:
            if os.getpid() != self._owner:
                self._leave_to_parent()
            for attempt in (1, 2):
                try:
                    zygote = self._zygote(limits.library)
                    child, grouped = zygote.take(limits)
                    if self._grouped and not grouped:
                        child.close()
                        raise SandboxError("a control group could not be made any more")
                    self._grouped = grouped
                except SandboxError:
                    self._drop(limits.library)
                    if attempt == 2:
                        raise
                else:
                    break
            zygote.tidy()
            with suppress(SandboxError):  # then it is tired, and another one starts with the next submission
                zygote.refill(limits)
            return child

    def _zygote(self, library: str) -> _Zygote:
        zygote = self._zygotes.get(library)
        if zygote is not None and not zygote.usable:
            self._drop(library)
            zygote = None
        if zygote is None:
            interpreter = self._interpreters.get(library)
            if interpreter is None:
                interpreter = self._interpreters[library] = bwrap.Interpreter.current(library)
            zygote = self._zygotes[library] = _Zygote(self.path, interpreter, library, self.jail)
        return zygote

    def _drop(self, library: str) -> None:
        zygote = self._zygotes.pop(library, None)
        if zygote is not None:
            zygote.end()

    def _leave_to_parent(self) -> None:
        for zygote in self._zygotes.values():
            zygote.abandon()
        self._zygotes.clear()
        self._owner = os.getpid()
        self._finalizer.detach()
        self._finalizer = weakref.finalize(self, _end_all, self._zygotes, self._owner)

    def pids(self) -> dict[str, int]:
        """The running interpreters: library and process id of its bubblewrap."""
        return {library: zygote.pid for library, zygote in self._zygotes.items()}

    def close(self) -> None:
        """End everything that this process's sandbox keeps running. ``start`` starts anew."""
        with self._lock:
            if os.getpid() != self._owner:
                self._leave_to_parent()
            _end_all(self._zygotes, self._owner)


def _end_all(zygotes: dict[str, _Zygote], owner: int) -> None:
    if os.getpid() == owner:
        for library in list(zygotes):
            zygotes.pop(library).end()
