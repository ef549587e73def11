"""The validator's end of the conversation with a package's driver: one JSON object a line, over two streams.

It has the interface of a sandbox, so the judge's own loop, checker and diagnosis work over it. It is none: on a Kattis
judge that system jails and times the driver, and sees how it ended. A line is values only; what is not as it should
be makes the observation ``malformed``, a closed stream ``died``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import IO, Any, Final

import numpy as np

from problems.judge.cases import MISUSED, Refused
from problems.judge.jail import wire
from problems.judge.jail.wire import Value
from problems.judge.sandbox import KEPT_CALLS, Limits, Loaded, Oracle
from problems.judge.verdicts import Call, Observation, Raised

MAX_LINE: Final = 4 << 20
_DEPTH: Final = 8


class Broken(Exception):
    """The conversation cannot go on: status as in Observation, and a detail."""

    def __init__(self, status: str, detail: str) -> None:
        super().__init__(status, detail)
        self.status, self.detail = status, detail


class LineSandbox:
    """One driver behind two streams; it is the only child that there is."""

    profile = "none: the judging system runs the driver"

    def __init__(self, incoming: IO[bytes], outgoing: IO[bytes]) -> None:
        self._child = LineChild(incoming, outgoing)

    def start(self, limits: Limits) -> LineChild:
        return self._child

    def end(self) -> None:
        """Tell the driver to end, and wait until it has, so that its own exit status is seen before a verdict."""
        self._child.end()


class LineChild:
    """The driver. ``alive`` stays true after it broke off, since there is no other: later cases find it dead."""

    alive = True

    def __init__(self, incoming: IO[bytes], outgoing: IO[bytes]) -> None:
        self._in, self._out = incoming, outgoing
        self._broken: Broken | None = None

    def load(self, entry: str, source: str) -> Loaded:
        """How the driver's loading of the submission ended; the source is with the driver already."""
        try:
            kind, body = self._hear()
            if kind == "loaded":
                return Loaded(True)
            if kind != "failed":
                raise self._break("malformed", "a line came out of turn")
            stage, raised = self._text(body, 0), Raised(self._text(body, 1), self._text(body, 2), self._line(body, 3))
        except Broken as end:
            return Loaded(False, end.status, Raised("", end.detail, 0))
        return Loaded(False, stage if stage in ("compile", "import", "missing") else "malformed", raised)

    def run(self, arguments: Sequence[Value], oracle: Oracle | None) -> Observation:
        """One case: send the inputs, answer the calls of f, take the result."""
        seen = Observation("returned")
        start = time.monotonic()
        try:
            self._say(case=[sent(value) for value in arguments])
            kind, body = self._hear()
            while kind == "call":
                self._answer(body, oracle, seen)
                kind, body = self._hear()
            if kind == "raised":
                seen.status = "raised"
                seen.raised = Raised(self._text(body, 0), self._text(body, 1), self._line(body, 2))
            elif kind == "returned" and isinstance(body, list) and len(body) == 2 and isinstance(body[1], list):
                seen.value = self._value(body[0])
                after = [self._value(item) for item in body[1][: len(arguments)]]
                seen.after = tuple(a if a.kind == "remote" else b for a, b in zip(arguments, after, strict=False))
            else:
                raise self._break("malformed", "a line came out of turn")
        except Broken as end:
            seen.status, seen.detail = end.status, end.detail
        seen.ms = (time.monotonic() - start) * 1000
        return seen

    def close(self) -> None:
        """Nothing: the streams belong to whoever opened them."""

    def end(self) -> None:
        """Say that there are no more cases and read until the driver is gone."""
        if self._broken is None:
            try:
                self._say(end=True)
            except Broken:
                return
        while self._in.read(1 << 16):
            pass

    def _answer(self, body: Any, oracle: Oracle | None, seen: Observation) -> None:
        if oracle is None or not isinstance(body, list) or len(body) > 1:
            raise self._break("malformed", "there is no such function to call in this case")
        if not body:
            seen.misused += 1
            self._say(error=MISUSED)
            return
        point = self._value(body[0])
        seen.call_count += 1
        answer: float | None = None
        try:
            answer = oracle(point)
            self._say(value=answer)
        except Refused as refused:
            self._say(error=[refused.kind, str(refused)])
        if len(seen.calls) < KEPT_CALLS:
            seen.calls.append(Call(point, answer))

    # --- lines ----------------------------------------------------------------------------------------------------

    def _break(self, status: str, detail: str) -> Broken:
        self._broken = Broken(status, detail)
        return self._broken

    def _say(self, **message: Any) -> None:
        if self._broken is not None:
            raise self._broken
        try:
            self._out.write(json.dumps(message).encode() + b"\n")
            self._out.flush()
        except OSError:
            raise self._break("died", "it closed the conversation") from None

    def _hear(self) -> tuple[str, Any]:
        if self._broken is not None:
            raise self._broken
        line = self._in.readline(MAX_LINE)
        if not line.endswith(b"\n"):
            raise self._break(*(("malformed", "a line is too long") if line else ("died", "it said nothing more")))
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            raise self._break("malformed", "a line is not JSON") from None
        if not isinstance(data, dict) or len(data) != 1:
            raise self._break("malformed", "a line is not an object with one key")
        kind, body = next(iter(data.items()))
        return kind, body

    def _value(self, data: Any) -> Value:
        try:
            return received(data)
        except (ValueError, TypeError, OverflowError, KeyError) as error:
            raise self._break("malformed", f"a value cannot be read ({type(error).__name__})") from None

    def _text(self, body: Any, index: int) -> str:
        if not isinstance(body, list) or len(body) <= index or not isinstance(body[index], str):
            raise self._break("malformed", "a report does not have the right parts")
        return str(body[index])[:2000]

    def _line(self, body: Any, index: int) -> int:
        if len(body) <= index or type(body[index]) is not int or not 0 <= body[index] < 1_000_000:
            raise self._break("malformed", "a report does not have the right parts")
        return int(body[index])


# --- values -------------------------------------------------------------------------------------------------------


def sent(value: Value) -> Any:
    """A value of ours as JSON."""
    if value.kind == "remote":
        return {"remote": value.text}
    if value.kind == "list":
        return [sent(item) for item in value.items]
    live = wire.build(value)
    if value.kind == "array":
        flat = live.reshape(-1).tolist()
        return {"array": value.dtype, "shape": list(value.shape), "layout": value.layout, "data": flat}
    return live


def received(data: Any, depth: int = _DEPTH) -> Value:
    """The value in a driver's JSON; raises ValueError, TypeError, OverflowError or KeyError for anything malformed."""
    if data is None or type(data) in (bool, int, float):
        return wire.describe(data)
    if not isinstance(data, dict) or depth == 0:
        raise ValueError("not a value")
    for kind in ("list", "tuple"):
        if kind in data:
            return Value(kind, items=tuple(received(item, depth - 1) for item in data[kind]))
    if "complex" in data:
        real, imaginary = data["complex"]
        return wire.describe(complex(float(real), float(imaginary)))
    if "other" in data:
        return Value("other", text=str(data["other"])[:200])
    shape = tuple(data["huge"] if "huge" in data else data["shape"])
    if not all(type(side) is int and 0 <= side < 1 << 40 for side in shape) or len(shape) > wire.MAX_NDIM:
        raise ValueError("not a shape")
    if "huge" in data:
        return Value("huge", shape=shape)
    dtype = data["array"] if "array" in data else data["scalar"]
    if dtype not in wire.DTYPES:
        raise ValueError("not a dtype")
    part = {"<c16": "<f8", "<c8": "<f4"}.get(dtype, dtype)
    array = np.array(data["data"], dtype=part).view(dtype).reshape(shape)
    return wire.describe(array if "array" in data else array[()])
