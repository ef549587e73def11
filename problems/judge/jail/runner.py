"""The process inside the jail: locks itself down, loads a learner's source, then runs one case after the other.

It knows inputs only. A function argument that is ``remote`` is a proxy: the judge, outside, evaluates it and answers
with a number. What goes back is a value; nobody outside believes more of it than that.
"""

# ruff: noqa: A004, UP029 - see the import from builtins

from __future__ import annotations

import gc
import os
import random
import sys
import types

# Bound here, so that a learner who patches builtins patches only their own program.
from builtins import BaseException, OSError, ValueError, callable, len, max, sorted, str, type, zip
from contextlib import suppress
from typing import Any, NoReturn

import numpy as np

from problems.judge.jail import lockdown, wire

_read, _write, _exit = os.read, os.write, os._exit
_pack, _unpack, _describe, _build, _float = wire.pack, wire.unpack, wire.describe, wire.build, wire.FLOAT
# errors that a remote function may hand on by name
_ERRORS = {e.__name__: e for e in (TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError, RuntimeError)}


class Channel:
    """Frames over two pipes. A closed or broken pipe ends the process at once: there is nobody left to talk to."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self.incoming, self.outgoing = incoming, outgoing

    def send(self, kind: int, payload: bytes) -> None:
        data = memoryview(wire.HEADER.pack(kind, len(payload)) + payload)
        while data:
            data = data[_write(self.outgoing, data) :]

    def receive(self) -> tuple[int, bytes]:
        kind, size = wire.HEADER.unpack(self._exactly(wire.HEADER.size))
        return kind, self._exactly(size)

    def _exactly(self, count: int) -> bytes:
        parts = []
        while count:
            part = _read(self.incoming, count)
            if not part:
                _exit(0)
            parts.append(part)
            count -= len(part)
        return b"".join(parts)


def _proxy(channel: Channel, name: str) -> Any:
    """A function ``name(point) -> float`` that the judge answers."""
    send, receive = channel.send, channel.receive
    call, answer = wire.CALL, wire.ANSWER

    def remote(point: Any) -> float:
        send(call, _pack(_describe([point], 3)))
        kind, payload = receive()
        if kind == answer:
            return _float.unpack(payload)[0]  # type: ignore[no-any-return]
        error, message = (item.text for item in _unpack(payload).items)
        raise _ERRORS.get(error, RuntimeError)(message)

    remote.__name__ = remote.__qualname__ = name
    return remote


def _argument(channel: Channel, value: wire.Value) -> Any:
    if value.kind == "remote":
        return _proxy(channel, value.text)
    if value.kind == "local":
        # the learner's own text, in the learner's own jail
        return eval(compile(value.text, "your function", "eval"), {"np": np})  # noqa: S307
    return _build(value)


def _where(error: BaseException) -> int:
    """The last line of the learner's own file in a traceback; 0 when there is none."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "solution.py":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _report(error: BaseException) -> bytes:
    """Type, message and line of an error. The message is the learner's code speaking: it may hang, raise or be long."""
    try:
        message = str(error)[:2000]
    except BaseException as second:  # noqa: BLE001 - whatever a learner's code raises
        message = f"(its message cannot be shown: {type(second).__name__})"
    return _pack(wire.listing(wire.text(type(error).__name__), wire.text(message), wire.number(_where(error))))


def _load(channel: Channel, entry: str, source: str) -> Any:
    """Compile and run the source; returns its entry function, or None after a FAILED frame."""

    def failed(stage: str, kind: str, message: str, line: int, column: int = 0) -> None:
        items = (wire.text(stage), wire.text(kind), wire.text(message), wire.number(line), wire.number(column))
        channel.send(wire.FAILED, _pack(wire.listing(*items)))

    try:
        code = compile(source, "solution.py", "exec", dont_inherit=True)
    except SyntaxError as error:
        failed("compile", type(error).__name__, str(error.msg), max(error.lineno or 0, 0), max(error.offset or 0, 0))
        return None
    except (ValueError, OverflowError, RecursionError, MemoryError) as error:
        failed("compile", type(error).__name__, str(error), 0)
        return None
    module = types.ModuleType("solution")
    sys.modules["solution"] = module
    try:
        exec(code, module.__dict__)  # noqa: S102 - this is what the jail is for
    except BaseException as error:  # noqa: BLE001 - whatever a learner's code raises
        kind, message, line = _unpack(_report(error)).items
        failed("import", kind.text, message.text, int(line.text))
        return None
    function = module.__dict__.get(entry)
    if not callable(function):
        names = sorted(name for name, item in module.__dict__.items() if type(item) is types.FunctionType)[:5]
        failed("missing", "", ", ".join(names), 0)
        return None
    channel.send(wire.LOADED, b"")
    return function


def _seed() -> None:
    """The same random numbers at every run, so that a verdict can be repeated."""
    random.seed(0)
    np.random.seed(0)


def _serve(channel: Channel) -> NoReturn:
    flush_out, flush_error = sys.stdout.flush, sys.stderr.flush
    kind, payload = channel.receive()
    if kind != wire.SOURCE:
        _exit(3)
    entry, source = (item.text for item in _unpack(payload).items)
    _seed()
    gc.collect()
    gc.freeze()  # what is ours does not show in the learner's gc.get_objects()
    function = _load(channel, entry, source)
    if function is None:
        _exit(0)
    listing, raised, returned = wire.listing, wire.RAISED, wire.RETURN
    while True:
        kind, payload = channel.receive()
        values = _unpack(payload).items
        try:
            arguments = [_argument(channel, value) for value in values]
            result = function(*arguments)
            after = [
                value if value.kind in ("remote", "local") else _describe(argument)
                for value, argument in zip(values, arguments, strict=True)
            ]
            answer, payload = returned, _pack(listing(_describe(result), listing(*after)))
        except BaseException as error:  # noqa: BLE001 - whatever a learner's code raises
            answer, payload = raised, _report(error)
        with suppress(OSError, ValueError):  # the learner closed the streams: there is nothing to show then
            flush_out()
            flush_error()
        channel.send(answer, payload)


def main(incoming: int, outgoing: int, uid: int, memory: int, cpu: int, file_size: int, processes: int) -> NoReturn:
    """Lock down, say what was found, serve. Called by the one-line program that bwrap starts."""
    for fd in range(3, 256):
        if fd not in (incoming, outgoing):
            with suppress(OSError):  # most of them are not open
                os.close(fd)
    channel = Channel(incoming, outgoing)
    try:
        lockdown.drop_rights(uid)
        found = lockdown.rights()
        lockdown.set_limits(memory, cpu, file_size, processes)
        lockdown.install_filter()
        found |= lockdown.facts()
    except (lockdown.LockdownError, OSError, ValueError) as error:
        found = {"error": str(error)}
    channel.send(wire.HELLO, "\n".join(f"{key}={value}" for key, value in found.items()).encode())
    _serve(channel)
