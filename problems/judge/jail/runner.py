"""The process inside the jail: locks itself down, loads a learner's source, then runs one case after the other.

It knows inputs only. A function argument that is ``remote`` is a proxy: the judge, outside, evaluates it and answers
with a number. What goes back is a value; nobody outside believes more of it than that.
"""

# ruff: noqa: A004, UP029 - see the import from builtins

from __future__ import annotations

import errno
import gc
import os
import random
import sys
import types

# Bound here, so that a learner who patches builtins patches only their own program.
from builtins import BaseException, OSError, ValueError, callable, len, max, sorted, str, type, zip
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, NoReturn

import numpy as np

from problems.judge.jail import lockdown, wire

_read, _write, _exit = os.read, os.write, os._exit
_pack, _unpack, _describe, _build, _float = wire.pack, wire.unpack, wire.describe, wire.build, wire.FLOAT
_header, _split, _HEAD = wire.HEADER.pack, wire.HEADER.unpack_from, wire.HEADER.size
# what a class of the learner cannot answer for itself
_class_name, _traceback = type.__dict__["__name__"].__get__, BaseException.__dict__["__traceback__"].__get__
_DEPTH: Final = wire.MAX_DEPTH - 3  # of lists in a result, which travels inside two more
# errors that a remote function may hand on by name
_ERRORS = {e.__name__: e for e in (TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError, RuntimeError)}


class Channel:
    """Frames over two pipes. A closed or broken pipe ends the process at once: there is nobody left to talk to."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self.incoming, self.outgoing = incoming, outgoing

    def send(self, kind: int, payload: bytes) -> None:
        data = _header(kind, len(payload)) + payload
        sent = _write(self.outgoing, data)
        while sent < len(data):
            data = data[sent:]
            sent = _write(self.outgoing, data)

    def receive(self) -> tuple[int, bytes]:
        """One frame. The judge speaks only when it is asked, so that what is read at once is at most one frame."""
        data = self._read()
        while len(data) < _HEAD:
            data += self._read()
        kind, size = _split(data)
        if len(data) < _HEAD + size:
            parts = [data]
            missing = _HEAD + size - len(data)
            while missing:
                parts.append(self._read())
                missing -= len(parts[-1])
            data = b"".join(parts)
        return kind, data[_HEAD:]

    def _read(self) -> bytes:
        part = _read(self.incoming, 1 << 16)
        if not part:
            _exit(0)
        return part


def _proxy(channel: Channel, name: str) -> Any:
    """A function ``name(point) -> float`` that the judge answers."""
    send, receive, pack_point = channel.send, channel.receive, wire.pack_point
    call, answer, misused = wire.CALL, wire.ANSWER, wire.MISUSED

    def remote(point: Any, /, *more: Any, **named: Any) -> float:
        send(call, misused if more or named else pack_point(point))
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
    line, trace = 0, _traceback(error)
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "solution.py":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _report(error: BaseException) -> bytes:
    """Type, message and line of an error. The message is the learner's code speaking: it may hang, raise or be long."""
    try:
        kind = _class_name(type(error))
        message = "".join(str(error)[:2000])[:2000]
        if type(error) is OSError and error.errno == errno.ENOMEM:
            kind = "MemoryError"  # how mmap says it
    except BaseException:  # noqa: BLE001 - whatever a learner's code raises
        kind, message = "Exception", "it cannot be shown, because asking what it says raises another one"
    return _pack(wire.listing(wire.text(kind), wire.text(message), wire.number(_where(error))))


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


_seed_python, _seed_numpy = random.seed, np.random.seed


def _seed() -> None:
    """The same random numbers in every case, so that a verdict can be repeated."""
    _seed_python(0)
    _seed_numpy(0)


REHEARSAL: Final = """
import numpy as np
def rehearsal(f, x, h=1e-7):
    x = np.asarray(x, dtype=float)
    grad = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = h
        grad[i] = (f(x + step) - f(x - step)) / (2 * h)
    copy = np.array([float(v) for v in x.ravel()]).reshape(x.shape)
    print(end="")
    return grad + 0 * copy.sum()
"""


class _Rehearsal(Channel):
    """A channel with nobody behind it: calls of ``f`` are answered with a number, results go nowhere."""

    def send(self, kind: int, payload: bytes) -> None:
        _unpack(payload) if payload else None

    def receive(self) -> tuple[int, bytes]:
        return wire.ANSWER, _float.pack(1.0)


def rehearse() -> None:
    """Run a program of ours through all that a submission goes through. The memory that it touches is this process's
    own from then on, and not to be copied while a learner waits."""
    channel = _Rehearsal(-1, -1)
    function = _load(channel, "rehearsal", REHEARSAL)
    _seed()
    values = (wire.Value("remote", text="f"), _describe(np.ones((2, 2))), wire.Value("float", data=_float.pack(0.5)))
    payload = _case(channel, function, _unpack(_pack(wire.listing(*values))).items)[1]
    _unpack(payload)
    del sys.modules["solution"]


def _case(channel: Channel, function: Any, values: tuple[wire.Value, ...]) -> tuple[int, bytes]:
    """Call the learner's function; the frame that tells what it did."""
    try:
        arguments = [_argument(channel, value) for value in values]
        result = function(*arguments)
        after = [
            value if value.kind in ("remote", "local") else _describe(argument, _DEPTH)
            for value, argument in zip(values, arguments, strict=True)
        ]
        return wire.RETURN, _pack(wire.listing(_describe(result, _DEPTH), wire.listing(*after)))
    except BaseException as error:  # noqa: BLE001 - whatever a learner's code raises
        return wire.RAISED, _report(error)


def _serve(channel: Channel) -> NoReturn:
    flush_out, flush_error = sys.stdout.flush, sys.stderr.flush
    kind, payload = channel.receive()
    if kind != wire.SOURCE:
        _exit(3)
    entry, source = (item.text for item in _unpack(payload).items)
    _seed()
    function = _load(channel, entry, source)
    if function is None:
        _exit(0)
    run, seed = _case, _seed
    while True:
        kind, payload = channel.receive()
        seed()
        answer, payload = run(channel, function, _unpack(payload).items)
        with suppress(OSError, ValueError):  # the learner closed the streams: there is nothing to show then
            flush_out()
            flush_error()
        channel.send(answer, payload)


def _close_all_but(incoming: int, outgoing: int) -> None:
    low, high = sorted((incoming, outgoing))
    for first, last in ((3, low), (low + 1, high), (high + 1, 65536)):
        os.closerange(first, last)


def begin(
    incoming: int,
    outgoing: int,
    user: int,
    memory: int,
    cpu: int,
    file_size: int,
    processes: int,
    *,
    prepare: Callable[[], None] = lambda: None,
) -> NoReturn:
    """Prepare, lock down, say what was found, serve. A failure is said too; the judge then sends nothing."""
    channel = Channel(incoming, outgoing)
    try:
        prepare()
        _close_all_but(incoming, outgoing)
        os.chdir("/tmp")  # noqa: S108 - the jail's own
        lockdown.drop_rights(user)
        found = lockdown.rights()
        lockdown.set_limits(memory, cpu, file_size, processes)
        lockdown.install_filter()
        found |= lockdown.facts((0, 1, 2, incoming, outgoing))
        rehearse()
    except (lockdown.LockdownError, OSError, ValueError) as error:
        found = {"error": str(error)}
    gc.freeze()  # what is ours does not show in the learner's gc.get_objects()
    channel.send(wire.HELLO, "\n".join(f"{key}={value}" for key, value in found.items()).encode())
    try:
        _serve(channel)
    except BaseException:  # noqa: BLE001 - a traceback of ours would be taken for the learner's output
        _exit(4)


def main(*numbers: str) -> NoReturn:
    """The cold start: called by the one-line program that bwrap starts for one submission."""
    lockdown.die_with_parent()
    incoming, outgoing, user, memory, cpu, file_size, processes = map(int, numbers)
    begin(incoming, outgoing, user, memory, cpu, file_size, processes)
