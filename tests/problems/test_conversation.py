"""The judge's side of the pipes: whatever a child sends, there is an observation and never an exception."""

from __future__ import annotations

import os
import threading
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from problems.judge.cases import Remote, evaluate
from problems.judge.conversation import Conversation, Pipes
from problems.judge.jail import wire
from problems.judge.jail.wire import Value
from problems.judge.sandbox import KEPT_BYTES, KEPT_CALLS, Limits

LIMITS = replace(Limits(), case_seconds=5.0, load_seconds=5.0)
STATUSES = {"returned", "raised", "died", "malformed", "output", "timeout"}
F = Remote(lambda x: np.sum(x * x))


class Dead:
    """An ``End`` with no process behind it."""

    pidfd = -1

    def __init__(self) -> None:
        self.killed = self.closed = 0

    def kill(self) -> None:
        self.killed += 1

    def cause(self) -> tuple[str, str]:
        self.kill()
        return "died", "a test"

    def close(self) -> None:
        self.closed += 1


def _spoken(data: bytes, printed: bytes = b"") -> tuple[Conversation, Dead]:
    """A conversation whose child has said this and is gone."""
    pipes, end = Pipes(), Dead()
    child_in, child_out, output = pipes.open()

    def speak() -> None:
        for fd, said in ((output, printed), (child_out, data)):
            with os.fdopen(fd, "wb", buffering=0) as stream:
                stream.write(said)

    child = Conversation(pipes, LIMITS, end)
    threading.Thread(target=speak).start()
    os.close(child_in)
    return child, end


def _frame(kind: int, payload: bytes) -> bytes:
    return wire.HEADER.pack(kind, len(payload)) + payload


kinds = st.sampled_from(sorted(wire.FROM_SANDBOX)) | st.integers(0, 255)
numbers = st.floats() | st.integers(-(1 << 900), 1 << 900) | st.text(max_size=20)
payloads = st.binary(max_size=60) | st.recursive(
    numbers, lambda inner: st.lists(inner, max_size=5), max_leaves=8
).map(lambda live: wire.pack(wire.describe(live)))  # fmt: skip
streams = st.binary(max_size=100) | st.lists(st.builds(_frame, kinds, payloads), max_size=6).map(b"".join)


@given(streams, st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_stream_gives_an_observation(data: bytes, printed: bytes) -> None:
    child, end = _spoken(data, printed)
    seen = child.run((Value("remote", text="f"),), lambda point: evaluate(F, point))
    assert seen.status in STATUSES
    assert (seen.value is None) or seen.status == "returned"
    child.close()
    assert end.closed == 1
    assert not child.alive


@given(streams)
@settings(max_examples=100, deadline=None)
def test_any_stream_ends_the_loading(data: bytes) -> None:
    child, _ = _spoken(data)
    loaded = child.load("entry", "source")
    assert loaded.ok or loaded.stage in STATUSES | {"compile", "import", "missing"}
    child.close()


def test_a_length_is_refused_before_anything_is_read() -> None:
    child, _ = _spoken(wire.HEADER.pack(wire.RETURN, 0xFFFFFFFF) + b"x" * 100)
    assert child.run((), None).status == "malformed"


def test_a_frame_that_comes_too_early_is_no_answer() -> None:
    answer = _frame(wire.RETURN, wire.pack(wire.listing(wire.describe(1.0), wire.listing())))
    child, _ = _spoken(answer + answer)
    assert child.run((), None).status == "returned"
    assert child.run((), None).status == "malformed"


def test_what_is_printed_is_cut_and_too_much_of_it_ends_the_child() -> None:
    answer = _frame(wire.RETURN, wire.pack(wire.listing(wire.describe(1.0), wire.listing())))
    child, _ = _spoken(answer, b"x" * (LIMITS.output_kept + 10))
    seen = child.run((), None)
    assert (seen.status, len(seen.output)) == ("returned", LIMITS.output_kept)
    child, end = _spoken(b"", b"x" * (LIMITS.output + 1))
    assert child.run((), None).status == "output"
    assert end.closed == 1


def test_the_points_of_many_calls_are_counted_and_not_all_kept() -> None:
    small = _frame(wire.CALL, wire.pack_point(np.ones(1)))
    child, _ = _spoken(small * (KEPT_CALLS + 5))
    seen = child.run((), lambda _: 1.0)
    assert (seen.call_count, len(seen.calls)) == (KEPT_CALLS + 5, KEPT_CALLS)
    big = _frame(wire.CALL, wire.pack_point(np.ones(1 << 17)))
    child, _ = _spoken(big * 8)
    seen = child.run((), lambda _: 1.0)
    assert seen.call_count == 8
    assert sum(len(call.point.data) for call in seen.calls) <= KEPT_BYTES


@given(st.lists(st.integers(0, 3), max_size=4), st.sampled_from(["C", "F", "strided"]))
def test_the_short_way_for_points_says_the_same_as_the_long_one(shape: list[int], layout: str) -> None:
    size = int(np.prod(shape))
    point = np.arange(size, dtype=float).reshape(shape)
    if layout == "F":
        point = np.asfortranarray(point)
    elif layout == "strided" and shape:
        point = np.repeat(point, 2, axis=-1)[..., ::2]
    data = wire.pack_point(point)
    assert data == wire.pack(wire.describe([point]))
    assert wire.unpack(data) == wire.describe([point])


@given(st.binary(max_size=8), st.integers(0, 40))
def test_a_damaged_point_is_refused_like_everything_else(damage: bytes, at: int) -> None:
    whole = wire.pack_point(np.ones((2, 2)))
    data = whole[:at] + damage + whole[at + len(damage) :]
    try:
        value = wire.unpack(data)
    except wire.WireError:
        return
    assert wire.pack(value) == data


def test_points_of_other_kinds_take_the_long_way() -> None:
    for point in (1, 2.0, [1.0], np.ones(2, dtype=np.float32), np.float64(3.0), None):
        assert wire.unpack(wire.pack_point(point)) == wire.listing(wire.describe(point))
