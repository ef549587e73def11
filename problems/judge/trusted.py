"""Runs programs that ship with a package in this process: same interface and observations as the sandbox, much faster.

For programs of the catalogue only. They are part of this repository, reviewed like the rest of it; nothing here
protects anybody from what a program does, so a learner's source must never come this way.
``tests/problems/test_trusted.py`` shows that both ways see the same. Programs that draw random numbers must seed
their generator themselves.
"""

from __future__ import annotations

import contextlib
import io
import signal
import sys
import time
import types
from collections.abc import Iterator, Sequence
from typing import Any

from problems.judge.cases import MISUSED, Refused
from problems.judge.jail import runner, wire
from problems.judge.jail.wire import Value
from problems.judge.sandbox import KEPT_CALLS, Limits, Loaded, Oracle
from problems.judge.verdicts import Call, Observation, Raised


class _TimeUp(BaseException):
    """The time of a case is over. No Exception, so that a program's own ``except Exception`` does not swallow it."""


class _Kept(runner.Channel):
    """A channel that leads nowhere and keeps the last frame."""

    def __init__(self) -> None:
        super().__init__(-1, -1)
        self.payload = b""

    def send(self, kind: int, payload: bytes) -> None:
        self.payload = payload


def _recorded(name: str, oracle: Oracle | None, seen: Observation) -> Any:
    """The remote function, called directly; every call goes into ``seen``."""

    def remote(point: Any, /, *more: Any, **named: Any) -> float:
        if oracle is None:
            raise RuntimeError("there is no function to call in this case")
        if more or named:
            seen.misused += 1
            raise TypeError(MISUSED[1])
        value = wire.describe(point, 2)
        seen.call_count += 1
        answer: float | None = None
        try:
            answer = oracle(value)
        except Refused as refused:
            raise runner._ERRORS.get(refused.kind, RuntimeError)(str(refused)) from None
        finally:
            if len(seen.calls) < KEPT_CALLS:
                seen.calls.append(Call(value, answer))
        return answer

    remote.__name__ = remote.__qualname__ = name
    return remote


@contextlib.contextmanager
def _within(seconds: float | None) -> Iterator[None]:
    """Raise _TimeUp in the block after ``seconds``. Works in the main thread only; None = no limit."""
    if seconds is None:
        yield
        return

    def ring(*_: object) -> None:
        raise _TimeUp

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class TrustedChild:
    """One program, loaded into this process."""

    def __init__(self, limits: Limits, watched: bool) -> None:
        self._seconds = limits.case_seconds if watched else None
        self._channel = _Kept()
        self._function: Any = None
        self._before = sys.modules.get("solution")
        self._open = True

    @property
    def alive(self) -> bool:
        return self._open

    def load(self, entry: str, source: str) -> Loaded:
        """Compile and run the source."""
        start = time.monotonic()
        printed = io.StringIO()
        stage: Value | None = None
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            self._function = runner._load(self._channel, entry, source)
        ms = (time.monotonic() - start) * 1000
        if self._function is not None:
            return Loaded(True, ms=ms, output=printed.getvalue())
        stage, error, message, line, column = wire.unpack(self._channel.payload).items
        self.close()
        raised = Raised(error.text, message.text, int(line.text))
        return Loaded(False, stage.text, raised, int(column.text), ms, printed.getvalue())

    def run(self, arguments: Sequence[Value], oracle: Oracle | None) -> Observation:
        """One case, as the sandbox would report it."""
        seen = Observation("returned")
        printed = io.StringIO()
        start = time.monotonic()
        try:
            with (
                _within(self._seconds),
                contextlib.redirect_stdout(printed),
                contextlib.redirect_stderr(printed),
            ):
                live = [
                    _recorded(value.text, oracle, seen)
                    if value.kind == "remote"
                    else runner._argument(self._channel, value)
                    for value in arguments
                ]
                seen.value = wire.describe(self._function(*live))
                seen.after = tuple(
                    value if value.kind in ("remote", "local") else wire.describe(argument)
                    for value, argument in zip(arguments, live, strict=True)
                )
        except _TimeUp:
            seen.status = "timeout"
            self.close()
        except BaseException as error:  # noqa: BLE001 - whatever the program raises is what we want to know
            kind, message, line = wire.unpack(runner._report(error)).items
            seen.status, seen.raised = "raised", Raised(kind.text, message.text, int(line.text))
        seen.ms = (time.monotonic() - start) * 1000
        seen.output = printed.getvalue()
        return seen

    def close(self) -> None:
        """Forget the program."""
        self._open, self._function = False, None
        if isinstance(self._before, types.ModuleType):
            sys.modules["solution"] = self._before
        else:
            sys.modules.pop("solution", None)


class TrustedSandbox:
    """Where trusted children come from. ``watched`` ends a case at its time limit, which needs the main thread."""

    profile = "none: this process, for programs of the catalogue only"

    def __init__(self, watched: bool = False) -> None:
        self.watched = watched

    def start(self, limits: Limits) -> TrustedChild:
        return TrustedChild(limits, self.watched)
