"""The trusted side's decoder: whatever bytes come, it gives a value or says WireError, and never reads past the end."""

from __future__ import annotations

import struct
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.judge.jail import wire
from problems.judge.jail.wire import Value, WireError, build, describe, pack, unpack

finite_arrays = st.integers(0, 3).flatmap(
    lambda ndim: st.tuples(*[st.integers(0, 4)] * ndim).flatmap(
        lambda shape: st.lists(
            st.floats(width=64), min_size=int(np.prod(shape)), max_size=int(np.prod(shape))
        ).map(lambda flat: np.array(flat, dtype=np.float64).reshape(shape))
    )
)  # fmt: skip
plain = st.one_of(
    st.none(), st.booleans(), st.integers(-(1 << 1000), 1 << 1000), st.floats(), st.text(max_size=50), finite_arrays
)
values = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=4) | st.lists(inner, max_size=4).map(tuple), max_leaves=8
)


def _equal(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, float):
        return struct.pack("<d", a) == struct.pack("<d", b)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(_equal(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)


@given(values)
def test_values_come_through_bit_for_bit(value: Any) -> None:
    described = describe(value)
    assert unpack(pack(described)) == described
    assert _equal(build(described), value)


@given(st.binary(max_size=400))
def test_any_bytes_give_a_value_or_a_wire_error(data: bytes) -> None:
    try:
        value = unpack(data)
    except WireError:
        return
    assert pack(value)  # what was accepted can be said again


@given(values, st.data())
def test_one_changed_byte_never_gets_another_exception_out(value: Any, data: st.DataObject) -> None:
    raw = bytearray(pack(describe(value)))
    at = data.draw(st.integers(0, len(raw) - 1))
    raw[at] = data.draw(st.integers(0, 255))
    with suppress(WireError):
        assert isinstance(unpack(bytes(raw)), Value)


def _kind(name: str) -> bytes:
    return bytes((wire.KINDS.index(name),))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        _kind("array") + struct.pack("<BBB", 0, 0, 200),  # more dimensions than may be
        _kind("array") + struct.pack("<BBB", 0, 0, 2) + struct.pack("<QQ", 1 << 40, 1 << 40),  # a product that is huge
        _kind("array") + struct.pack("<BBB", 0, 0, 1) + struct.pack("<Q", (1 << 64) - 3),  # a negative length, in C
        _kind("array") + struct.pack("<BBB", 99, 0, 0),  # no such dtype
        _kind("str") + struct.pack("<I", 0xFFFFFFFF),
        _kind("str") + struct.pack("<I", 2) + b"\xff\xfe",
        _kind("int") + struct.pack("<I", 3) + b"1e9",
        _kind("int") + struct.pack("<I", 5000) + b"9" * 5000,
        _kind("list") + struct.pack("<I", 0xFFFFFFFF),
        _kind("list") + struct.pack("<I", 1) * 1 + (_kind("list") + struct.pack("<I", 1)) * 100_000,  # very deep
        _kind("none") + b"left over",
        _kind("bool") + b"\x02",
    ],
)
def test_known_tricks_are_refused(data: bytes) -> None:
    with pytest.raises(WireError):
        unpack(data)


def test_an_array_of_zero_size_with_huge_sides_costs_nothing() -> None:
    value = unpack(_kind("array") + struct.pack("<BBB", 0, 0, 2) + struct.pack("<QQ", 0, 3))
    assert value.shape == (0, 3)


def test_subclasses_are_named_not_believed() -> None:
    class Liar(np.ndarray):
        pass

    class Number(float):
        pass

    assert describe(np.zeros(3).view(Liar)).kind == "other"
    assert describe(Number(1.0)).kind == "other"
    assert describe(np.matrix([[1.0]])).kind == "other"
    assert describe(np.ma.masked_all(3)).kind == "other"
    assert describe(np.empty(2, dtype=object)).kind == "other"
    assert describe(np.zeros(2, dtype=[("a", "f8")])).kind == "other"
    assert describe(float("nan")).kind == "float"


def test_a_huge_array_is_described_not_copied() -> None:
    value = describe(np.broadcast_to(0.0, (1 << 20, 1 << 20)))
    assert (value.kind, value.shape) == ("huge", (1 << 20, 1 << 20))
    assert len(pack(value)) < 100


def test_layouts_survive() -> None:
    base = np.arange(12.0).reshape(3, 4)
    for array, layout in ((base, "c"), (base.T, "f"), (base[:, ::2], "strided")):
        value = unpack(pack(describe(array)))
        assert value.layout == layout
        again = build(value)
        assert np.array_equal(again, array)
        assert again.flags.c_contiguous == array.flags.c_contiguous
        assert again.flags.writeable


def test_deep_lists_stop_at_the_depth_bound() -> None:
    deep: list[Any] = []
    for _ in range(50):
        deep = [deep]
    unpack(pack(describe(deep)))
    assert isinstance(describe(deep), Value)
