"""The trusted end of a child's pipes: frames under a deadline, output kept within bounds, calls of ``f`` answered.

How a child is started, ended and buried is its sandbox's business (see ``End``).
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Sequence
from typing import Final, Protocol

from problems.judge.cases import MISUSED, Refused
from problems.judge.jail import wire
from problems.judge.jail.wire import Value
from problems.judge.sandbox import KEPT_BYTES, KEPT_CALLS, Limits, Loaded, Oracle
from problems.judge.verdicts import Call, Observation, Raised

STRETCH: Final = 3  # the wall clock never shows more than this many times a limit


class Ended(Exception):
    """The child cannot go on: status as in Observation, and a detail."""

    def __init__(self, status: str, detail: str = "") -> None:
        super().__init__(status, detail)
        self.status, self.detail = status, detail


class End(Protocol):
    """What a conversation asks of the process behind it."""

    @property
    def pidfd(self) -> int:
        """Of the process, in the hands of the judge; -1 when there is none."""
        ...

    def kill(self) -> None:
        """End the process and all that it started. Safe to call twice."""
        ...

    def cause(self) -> tuple[str, str]:
        """Ends a process that has closed its pipes, and says why it did: status (memory, timeout, died) and a detail.

        Raises SandboxError when it was not the process's own doing: the judge's fault, not the learner's.
        """
        ...

    def close(self) -> None:
        """Give back what the process held. Safe to call twice."""
        ...


class Pipes:
    """The three pipes of a child: to it, from it, and what it prints. Owns the trusted ends."""

    __slots__ = ("incoming", "outgoing", "output")

    def __init__(self) -> None:
        self.outgoing = self.incoming = self.output = -1

    def open(self) -> tuple[int, int, int]:
        """Make them; returns the child's ends (its input, its result, its output), which the caller closes."""
        child_in, self.outgoing = os.pipe2(os.O_CLOEXEC)
        self.incoming, child_out = os.pipe2(os.O_CLOEXEC)
        self.output, printed = os.pipe2(os.O_CLOEXEC)
        for fd in (self.outgoing, self.incoming, self.output):
            os.set_blocking(fd, False)
        return child_in, child_out, printed

    def close(self) -> None:
        for fd in (self.outgoing, self.incoming, self.output):
            if fd >= 0:
                os.close(fd)
        self.outgoing = self.incoming = self.output = -1


class Starvation:
    """How long a child and this thread were ready to run while others had the processors.

    That time is not the learner's: on a crowded machine the same code must get the same verdict. A process that
    sleeps or is stopped is not ready, so it gains nothing.
    """

    def __init__(self, pidfd: int) -> None:
        self._files = [fd for fd in map(_open_schedstat, (_schedstat(pidfd), "/proc/thread-self/schedstat")) if fd >= 0]

    def seconds(self) -> float:
        """The sum until now; 0 where the kernel does not tell."""
        total = 0
        for fd in self._files:
            try:
                fields = os.pread(fd, 128, 0).split()
            except ProcessLookupError:  # it has just ended
                continue
            total += int(fields[1])
        return total / 1e9

    def close(self) -> None:
        for fd in self._files:
            os.close(fd)
        self._files.clear()


def _schedstat(pidfd: int) -> str:
    """Path of the scheduler's account of the process behind a pidfd."""
    try:
        with open(f"/proc/self/fdinfo/{pidfd}") as lines:
            pid = next((line.split()[1] for line in lines if line.startswith("Pid:")), "-1")
    except OSError:
        pid = "-1"
    return f"/proc/{pid}/schedstat"


def _open_schedstat(path: str) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return -1


class Conversation:
    """A ``Child``: speaks with one jailed process over its pipes. Every wait has a deadline on our clock."""

    def __init__(self, pipes: Pipes, limits: Limits, end: End) -> None:
        self.limits = limits
        self._pipes, self._end = pipes, end
        self._to, self._from, self._output = pipes.outgoing, pipes.incoming, pipes.output
        self._kept: list[bytes] = []
        self._kept_size = self._output_size = 0
        self._buffer = bytearray()
        self._poll = select.poll()
        self._poll.register(self._from, select.POLLIN)
        self._poll.register(self._output, select.POLLIN)
        self._open = True
        self._starvation: Starvation | None = None
        self._start = self._seconds = self._starved = 0.0

    @property
    def alive(self) -> bool:
        return self._open

    # --- frames, under a deadline ---------------------------------------------------------------------------------

    def hello(self, deadline: float) -> dict[str, str]:
        """The first frame: what the child found out about its jail. Raises Ended."""
        kind, payload = self._next(deadline)
        if kind != wire.HELLO or len(payload) > 4096:
            raise Ended("malformed", "no hello")
        return dict(line.split("=", 1) for line in payload.decode("utf-8", "replace").splitlines() if "=" in line)

    def _begin(self, seconds: float) -> float:
        """From now on the child has this long; returns the start."""
        if self._starvation is None:
            self._starvation = Starvation(self._end.pidfd)
        self._seconds, self._starved = seconds, self._starvation.seconds()
        self._start = time.monotonic()
        return self._start

    def _until(self) -> float:
        """The deadline of what began last: later than planned by as long as the machine was busy with others."""
        lost = self._starvation.seconds() - self._starved if self._starvation else 0.0
        return self._start + min(self._seconds + lost, STRETCH * self._seconds)

    def _next(self, deadline: float | None, data: bytes = b"") -> tuple[int, bytes]:
        """Write ``data``, then wait for one frame. Drains the output meanwhile, so that a full pipe stops nobody.

        Raises Ended. ``deadline``: on the monotonic clock; None: that of what began last.
        """
        poll = self._poll
        waiting = self._write(memoryview(data)) if data else memoryview(data)
        if waiting:
            poll.register(self._to, select.POLLOUT)
        try:
            while True:
                frame = self._frame()
                if frame is not None:
                    return frame
                now = time.monotonic()
                left = (deadline or self._start + self._seconds) - now
                if left <= 0 and deadline is None:
                    left = self._until() - now
                if left <= 0:
                    raise Ended("timeout")
                for fd, _ in poll.poll(left * 1000 + 1):
                    if fd == self._from:
                        part = os.read(fd, 1 << 16)
                        if not part:
                            raise Ended("died")
                        self._buffer += part
                    elif fd == self._output:
                        if not self._read_output():
                            poll.unregister(fd)
                    else:
                        waiting = self._write(waiting)
                        if not waiting:
                            poll.unregister(fd)
        finally:
            if waiting:
                poll.unregister(self._to)

    def _write(self, data: memoryview) -> memoryview:
        """Write what the pipe takes; what is left. A closed pipe takes everything: the reading side will tell."""
        try:
            return data[os.write(self._to, data) :]
        except BlockingIOError:
            return data
        except BrokenPipeError:
            return data[:0]

    def _frame(self) -> tuple[int, bytes] | None:
        head = wire.HEADER.size
        buffer = self._buffer
        if len(buffer) < head:
            return None
        kind, size = wire.HEADER.unpack_from(buffer)
        if kind not in wire.FROM_SANDBOX or size > wire.MAX_FRAME:
            raise Ended("malformed", "bytes that are not of this protocol came over the result pipe")
        if len(buffer) < head + size:
            return None
        payload = bytes(buffer[head : head + size])
        del buffer[: head + size]
        return kind, payload

    def _read_output(self) -> bool:
        """Take what was printed; keeps the first part, ends the child when there is far too much. False at its end."""
        part = os.read(self._output, 1 << 16)
        self._output_size += len(part)
        if self._kept_size < self.limits.output_kept:
            self._kept.append(part[: self.limits.output_kept - self._kept_size])
            self._kept_size += len(self._kept[-1])
        if self._output_size > self.limits.output:
            raise Ended("output")
        return bool(part)

    def drain(self) -> None:
        """Read the output that is already there."""
        try:
            while self._read_output():
                pass
        except BlockingIOError:
            return

    def text(self) -> str:
        """What was printed and kept since the last call."""
        if not self._kept:
            return ""
        raw = b"".join(self._kept)
        self._kept.clear()
        return raw.decode("utf-8", "replace")

    # --- what the judge asks for -----------------------------------------------------------------------------------

    def load(self, entry: str, source: str) -> Loaded:
        """Send the source; nothing of it has run before this call."""
        payload = wire.pack(wire.listing(Value("str", text=entry), Value("str", text=source)))
        start = self._begin(self.limits.load_seconds)
        try:
            kind, answer = self._next(None, wire.HEADER.pack(wire.SOURCE, len(payload)) + payload)
            self.drain()
            ms = (time.monotonic() - start) * 1000
            if kind == wire.LOADED:
                return Loaded(True, ms=ms, output=self.text())
            if kind != wire.FAILED:
                raise Ended("malformed", "a frame came out of turn")
            stage, error, message, line, column = items(answer, "str", "str", "str", "int", "int")
        except Ended as end:
            status, detail = self._verdict_of(end)
            ms = (time.monotonic() - start) * 1000
            return Loaded(False, status, Raised("", detail, 0), ms=ms, output=self.text())
        self.close()
        if stage.text not in ("compile", "import", "missing"):
            return Loaded(False, "malformed", ms=ms)
        raised = Raised(error.text[:200], message.text[:2000], _small(line))
        return Loaded(False, stage.text, raised, _small(column), ms, self.text())

    def run(self, arguments: Sequence[Value], oracle: Oracle | None) -> Observation:
        """One case: send the inputs, answer the calls of the remote function, take the result."""
        seen = Observation("returned")
        kept = KEPT_BYTES
        payload = wire.pack(wire.listing(*arguments))
        data = wire.HEADER.pack(wire.CASE, len(payload)) + payload
        start = self._begin(self.limits.case_seconds)
        try:
            if self._buffer:
                raise Ended("malformed", "a frame came out of turn")
            while True:
                kind, answer = self._next(None, data)
                if kind != wire.CALL:
                    break
                kept -= len(answer)
                data = _answer(answer, oracle, seen, keep=kept >= 0)
            seen.ms = (time.monotonic() - start) * 1000
            self.drain()
            if kind == wire.RETURN:
                value, after = items(answer, "", "list")
                seen.value, seen.after = value, after.items
            elif kind == wire.RAISED:
                error, message, line = items(answer, "str", "str", "int")
                seen.status, seen.raised = "raised", Raised(error.text[:200], message.text[:2000], _small(line))
            else:
                raise Ended("malformed", "a frame came out of turn")
        except Ended as end:
            seen.ms = (time.monotonic() - start) * 1000
            seen.status, seen.detail = self._verdict_of(end)
        seen.output = self.text()
        return seen

    def _verdict_of(self, end: Ended) -> tuple[str, str]:
        """End the child and say why it ended: the kernel's counters know more than a closed pipe."""
        try:
            self.drain()
        except Ended as louder:
            end = louder
        try:
            return self._end.cause() if end.status == "died" else (end.status, end.detail)
        finally:
            self.close()

    def close(self) -> None:
        """End the child and give back everything that it held. Safe to call twice."""
        if self._open:
            self._open = False
            self._end.kill()
            self._pipes.close()
            if self._starvation is not None:
                self._starvation.close()
            self._end.close()


def items(payload: bytes, *kinds: str) -> tuple[Value, ...]:
    """The items of a list payload, of these kinds ("" = any); anything else is malformed: raises Ended."""
    try:
        value = wire.unpack(payload)
    except (wire.WireError, RecursionError, MemoryError) as error:
        raise Ended("malformed", str(error)) from None
    fits = value.kind == "list" and len(value.items) == len(kinds)
    if not fits or any(kind and item.kind != kind for item, kind in zip(value.items, kinds, strict=True)):
        raise Ended("malformed", "the message does not have the right parts")
    return value.items


def _answer(payload: bytes, oracle: Oracle | None, seen: Observation, keep: bool) -> bytes:
    """Evaluate the remote function at one point and record it; the frame of the answer."""
    if oracle is None:
        raise Ended("malformed", "there is no function to call in this case")
    if payload == wire.MISUSED:
        seen.misused += 1
        return _fault(*MISUSED)
    point = items(payload, "")[0]
    seen.call_count += 1
    keep = keep and len(seen.calls) < KEPT_CALLS
    try:
        result = oracle(point)
    except Refused as refused:
        if keep:
            seen.calls.append(Call(point, None))
        return _fault(refused.kind, str(refused))
    if keep:
        seen.calls.append(Call(point, result))
    return wire.ANSWER_HEADER + wire.FLOAT.pack(result)


def _fault(kind: str, message: str) -> bytes:
    """The frame that makes the remote function raise."""
    told = wire.pack(wire.listing(wire.text(kind), wire.text(message)))
    return wire.HEADER.pack(wire.FAULT, len(told)) + told


def _small(value: Value) -> int:
    """A line or column number of the child, kept within reason."""
    return min(max(int(value.text), 0), 1_000_000)
