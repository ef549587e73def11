"""The wire between judge and sandbox: length-prefixed binary frames that carry values only.

A frame is ``<u8 type><u32 length>`` and a payload; a payload is a packed ``Value`` (a raw float64 for an answer of the
oracle). Both sides use this file. The trusted side never trusts a length, a depth, a count, a shape or a text in it:
every bound is checked with plain integers before anything is allocated; what is out of bounds is a ``WireError``.
Nothing is ever unpickled or evaluated.
"""

# ruff: noqa: A004, UP029 - see the import from builtins

from __future__ import annotations

import struct

# Bound here, so that a learner who patches builtins patches only their own program.
from builtins import bool, bytearray, bytes, complex, float, int, issubclass, len, list, range, str, tuple, type
from typing import Any, Final, NamedTuple

import numpy as np


class WireError(Exception):
    """The bytes of a frame are not what this protocol allows."""


MAX_FRAME: Final = 4 << 20  # bytes of payload
MAX_ARRAY: Final = 1 << 20  # bytes of one array that crosses the wire; a bigger one is only described
MAX_TEXT: Final = 256 << 10
MAX_ITEMS: Final = 4096  # values in one payload, lists included
MAX_DEPTH: Final = 8
MAX_NDIM: Final = 8
MAX_DIGITS: Final = 400  # of an integer in decimal

HEADER: Final = struct.Struct("<BI")
FLOAT: Final = struct.Struct("<d")

# judge -> sandbox
SOURCE, CASE, ANSWER, FAULT = 16, 17, 18, 19
# sandbox -> judge
HELLO, LOADED, FAILED, CALL, RETURN, RAISED = 1, 2, 3, 4, 5, 6
ANSWER_HEADER: Final = HEADER.pack(ANSWER, FLOAT.size)
FROM_SANDBOX: Final = frozenset({HELLO, LOADED, FAILED, CALL, RETURN, RAISED})

DTYPES: Final = (
    "<f8", "<f4", "<f2", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "|b1", "<c16", "<c8",
)  # fmt: skip
_ITEMSIZE: Final = {d: int(d[2:]) for d in DTYPES}
KINDS: Final = (
    "none", "bool", "int", "float", "complex", "str", "array", "scalar", "list", "tuple", "remote", "local",
    "huge", "other",
)  # fmt: skip
LAYOUTS: Final = ("c", "f", "strided", "readonly")


class Value(NamedTuple):
    """One value as data: what it is (kind, dtype, shape, layout) and its raw little-endian bytes in C order.

    ``huge`` is an array too big to send (only dtype and shape are known), ``other`` anything that isn't a plain number,
    array or list (``text`` names its type), ``remote`` a function that the judge evaluates, ``local`` source of one.
    """

    kind: str
    dtype: str = ""
    shape: tuple[int, ...] = ()
    data: bytes = b""
    items: tuple[Value, ...] = ()
    text: str = ""
    layout: str = "c"


NONE: Final = Value("none")


def listing(*items: Value) -> Value:
    """A list value, the usual payload of a frame."""
    return Value("list", items=items)


def text(string: str) -> Value:
    """A string value, cut to what may cross the wire."""
    return Value("str", text=string[: MAX_TEXT // 4])


def number(value: int) -> Value:
    """A small integer value (line numbers and the like)."""
    return Value("int", text=str(value))


# --- packing -----------------------------------------------------------------------------------------------------


def pack(value: Value) -> bytes:
    """Bytes of a value; the inverse of ``unpack``."""
    out: list[bytes] = []
    _pack(value, out)
    return b"".join(out)


def _pack(value: Value, out: list[bytes]) -> None:
    kind = value.kind
    out.append(bytes((KINDS.index(kind),)))
    if kind in ("bool", "float", "complex"):
        out.append(value.data)
    elif kind in ("int", "str", "remote", "local", "other"):
        raw = value.text.encode("utf-8", "replace")
        out.append(struct.pack("<I", len(raw)))
        out.append(raw)
    elif kind in ("array", "scalar"):
        out.append(struct.pack("<BBB", DTYPES.index(value.dtype), LAYOUTS.index(value.layout), len(value.shape)))
        out.append(struct.pack(f"<{len(value.shape)}Q", *value.shape))
        out.append(value.data)
    elif kind == "huge":
        raw = value.text.encode("utf-8", "replace")
        out.append(struct.pack("<B", len(value.shape)))
        out.append(struct.pack(f"<{len(value.shape)}Q", *value.shape))
        out.append(struct.pack("<I", len(raw)))
        out.append(raw)
    elif kind in ("list", "tuple"):
        out.append(struct.pack("<I", len(value.items)))
        for item in value.items:
            _pack(item, out)


class _Reader:
    """A cursor over untrusted bytes that never reads past their end."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.left = MAX_ITEMS

    def take(self, count: int) -> bytes:
        end = self.at + count
        if count < 0 or end > len(self.data):
            raise WireError("frame ends too early")
        piece = self.data[self.at : end]
        self.at = end
        return piece

    def byte(self) -> int:
        return self.take(1)[0]

    def u32(self) -> int:
        return int.from_bytes(self.take(4), "little")

    def string(self) -> str:
        size = self.u32()
        if size > MAX_TEXT:
            raise WireError("text too long")
        try:
            return self.take(size).decode("utf-8")
        except UnicodeDecodeError:
            raise WireError("text is not UTF-8") from None

    def shape(self) -> tuple[int, ...]:
        ndim = self.byte()
        if ndim > MAX_NDIM:
            raise WireError("too many dimensions")
        return tuple(int.from_bytes(self.take(8), "little") for _ in range(ndim))


def unpack(data: bytes) -> Value:
    """The value in a payload; raises ``WireError`` for anything malformed, too deep, too long or left over."""
    point = _unpack_point(data)
    if point is not None:
        return point
    reader = _Reader(data)
    value = _unpack(reader, MAX_DEPTH)
    if reader.at != len(data):
        raise WireError("frame has bytes left over")
    return value


# How a list of one float64 array begins: by far the most frequent payload, so both sides have a short way for it.
_POINT: Final = struct.pack("<BIBB", KINDS.index("list"), 1, KINDS.index("array"), 0)
_SHAPES: Final = tuple(struct.Struct(f"<{ndim}Q") for ndim in range(MAX_NDIM + 1))


def pack_point(point: Any) -> bytes:
    """The same as packing the list of one live object."""
    if type(point) is _ndarray and point.dtype is _FLOAT64 and point.nbytes <= MAX_ARRAY and point.ndim <= MAX_NDIM:
        flags = point.flags
        layout = 0 if flags.c_contiguous else 1 if flags.f_contiguous else 2
        shape = point.shape
        return _POINT + bytes((layout, len(shape))) + _SHAPES[len(shape)].pack(*shape) + point.tobytes()
    return pack(describe([point], 3))


MISUSED: Final = pack(listing())  # the payload of a call with more than a point: the judge wants to know of it


def _unpack_point(data: bytes) -> Value | None:
    """A list of one float64 array when it is exactly that; None sends the payload the long way."""
    if data[:7] != _POINT or len(data) < 9:
        return None
    layout, ndim = data[7], data[8]
    start = 9 + 8 * ndim
    if layout >= len(LAYOUTS) or ndim > MAX_NDIM or len(data) < start:
        return None
    shape = _SHAPES[ndim].unpack_from(data, 9)
    size = 8
    for side in shape:
        size *= side
    if size > MAX_ARRAY or len(data) != start + size:
        return None
    return Value("list", items=(Value("array", "<f8", shape, data[start:], layout=LAYOUTS[layout]),))


def _pick(table: tuple[str, ...], index: int) -> str:
    if index >= len(table):
        raise WireError("unknown code")
    return table[index]


def _unpack(reader: _Reader, depth: int) -> Value:
    if depth < 0:
        raise WireError("value too deep")
    reader.left -= 1
    if reader.left < 0:
        raise WireError("too many values")
    kind = _pick(KINDS, reader.byte())
    if kind == "none":
        return NONE
    if kind == "bool":
        flag = reader.take(1)
        if flag not in (b"\0", b"\1"):
            raise WireError("not a boolean")
        return Value(kind, data=flag)
    if kind == "float":
        return Value(kind, data=reader.take(8))
    if kind == "complex":
        return Value(kind, data=reader.take(16))
    if kind in ("int", "str", "remote", "local", "other"):
        string = reader.string()
        if kind == "int" and not _is_decimal(string):
            raise WireError("not a decimal integer")
        return Value(kind, text=string)
    if kind in ("array", "scalar"):
        dtype = _pick(DTYPES, reader.byte())
        layout = _pick(LAYOUTS, reader.byte())
        shape = reader.shape()
        if kind == "scalar" and shape:
            raise WireError("a scalar has no shape")
        size = _ITEMSIZE[dtype]
        for side in shape:
            size *= side
        if size > MAX_ARRAY:
            raise WireError("array too big")
        return Value(kind, dtype, shape, reader.take(size), layout=layout)
    if kind == "huge":
        shape = reader.shape()
        return Value(kind, shape=shape, text=reader.string())
    count = reader.u32()
    if count > reader.left:
        raise WireError("too many values")
    return Value(kind, items=tuple(_unpack(reader, depth - 1) for _ in range(count)))


def _is_decimal(string: str) -> bool:
    digits = string[1:] if string[:1] == "-" else string
    return 0 < len(digits) <= MAX_DIGITS and digits.isascii() and digits.isdigit()


# --- live objects ------------------------------------------------------------------------------------------------

_ascontiguous = np.ascontiguousarray
_FLOAT64 = np.dtype(np.float64)
_ndarray, _generic, _frombuffer, _full, _array = np.ndarray, np.generic, np.frombuffer, np.full, np.array


def describe(obj: Any, depth: int = MAX_DEPTH) -> Value:
    """The value of a live object. Only exact built-in and numpy types are looked into, never a subclass of them:
    a subclass can answer whatever it likes, so it is ``other``."""
    kind = type(obj)
    if obj is None:
        return NONE
    if kind is bool:
        return Value("bool", data=b"\1" if obj else b"\0")
    if kind is int:
        return (
            Value("int", text=str(obj))
            if obj.bit_length() < 1024
            else Value("other", text="int of more than 1024 bits")
        )
    if kind is float:
        return Value("float", data=FLOAT.pack(obj))
    if kind is complex:
        return Value("complex", data=FLOAT.pack(obj.real) + FLOAT.pack(obj.imag))
    if kind is str:
        return text(obj)
    if kind is _ndarray:
        return _describe_array(obj)
    if issubclass(kind, _generic) and kind.__module__ == "numpy":
        code = obj.dtype.str
        return (
            Value("scalar", code, (), obj.tobytes())
            if code in _ITEMSIZE
            else Value("other", text=f"numpy.{kind.__name__}")
        )
    if kind in (list, tuple) and depth > 0 and len(obj) < MAX_ITEMS // 2:
        return Value("list" if kind is list else "tuple", items=tuple(describe(item, depth - 1) for item in obj))
    return Value("other", text=f"{kind.__module__}.{kind.__qualname__}"[:200])


def _describe_array(array: Any) -> Value:
    code = array.dtype.str
    if code == "=f8":
        code = "<f8"
    if array.ndim > MAX_NDIM:
        return Value("other", text=f"an array of {array.ndim} dimensions")
    if array.nbytes > MAX_ARRAY:
        return Value("huge", shape=tuple(array.shape), text=code[:40])
    if code not in _ITEMSIZE:
        return Value("other", text=f"an array of dtype {array.dtype}"[:200])
    flags = array.flags
    layout = "c" if flags.c_contiguous else "f" if flags.f_contiguous else "strided"
    return Value("array", code, tuple(array.shape), _ascontiguous(array).tobytes(), layout=layout)


def array_of(value: Value) -> Any:
    """A fresh array of an ``array`` or ``scalar`` value, with the memory layout it names; writable if not read-only."""
    flat = _frombuffer(bytearray(value.data), dtype=value.dtype)
    array = flat.reshape(value.shape)
    if value.layout == "f":
        return _array(array, order="F")
    if value.layout == "strided" and array.ndim:
        wide = _full((*array.shape[:-1], array.shape[-1] * 2), 7, dtype=array.dtype)
        view = wide[..., ::2]
        view[...] = array
        return view
    if value.layout == "readonly":
        array.flags.writeable = False
    return array


def build(value: Value) -> Any:
    """The live object of a value. ``remote`` and ``local`` functions are the caller's business."""
    kind = value.kind
    if kind == "none":
        return None
    if kind == "bool":
        return value.data == b"\1"
    if kind == "int":
        return int(value.text)
    if kind == "float":
        return FLOAT.unpack(value.data)[0]
    if kind == "complex":
        return complex(FLOAT.unpack(value.data[:8])[0], FLOAT.unpack(value.data[8:])[0])
    if kind == "str":
        return value.text
    if kind == "array":
        return array_of(value)
    if kind == "scalar":
        return array_of(value)[()]
    if kind == "list":
        return [build(item) for item in value.items]
    if kind == "tuple":
        return tuple(build(item) for item in value.items)
    raise WireError(f"a value of kind {kind} has no object")
