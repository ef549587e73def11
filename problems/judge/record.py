"""Observations as small JSON: what is kept of a case, and how a value is shown to a person."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from problems.judge.jail import wire
from problems.judge.jail.wire import Value
from problems.judge.verdicts import Observation

KEPT_POINTS: Final = 16
KEPT_ENTRIES: Final = 32


def show(value: Value | None) -> str:
    """A returned value as a learner would print it, cut to a readable length."""
    if value is None:
        return ""
    if value.kind in ("array", "scalar"):
        array = wire.array_of(value)
        if value.kind == "scalar" or array.shape == ():
            return repr(array[()].item()) if array.dtype.kind in "fiub" else str(array[()])
        if array.size <= 60 and array.dtype.kind in "fiub":
            return _listed(array.tolist())
        with np.printoptions(precision=8, threshold=60, edgeitems=4, linewidth=100):
            return np.array2string(array, separator=", ")
    if value.kind == "huge":
        return f"an array of shape {value.shape}, too large to show"
    if value.kind == "other":
        return value.text if value.text.startswith("an ") else f"an object of type {value.text}"
    if value.kind in ("remote", "local"):
        return value.text
    return repr(wire.build(value))[:600] if not _holds_other(value) else f"a {value.kind} with other objects in it"


def _listed(entries: Any) -> str:
    """Nested lists as in source, with at most ten digits a number."""
    if isinstance(entries, list):
        return f"[{', '.join(_listed(entry) for entry in entries)}]"
    return repr(float(f"{entries:.10g}")) if isinstance(entries, float) else repr(entries)


def _holds_other(value: Value) -> bool:
    return value.kind in ("other", "huge", "remote", "local") or any(_holds_other(item) for item in value.items)


def _number(number: float) -> float | str:
    return number if math.isfinite(number) else str(number)


def _brief(value: Value | None) -> dict[str, Any] | None:
    """Kind, dtype, shape and the first entries; JSON has no NaN, so that is a string."""
    if value is None:
        return None
    brief: dict[str, Any] = {"kind": value.kind, "dtype": value.dtype, "shape": list(value.shape)}
    if value.kind in ("array", "scalar") and value.dtype not in ("<c16", "<c8"):
        flat = wire.array_of(value).reshape(-1)[:KEPT_ENTRIES]
        brief["entries"] = [_number(float(entry)) for entry in flat]
    elif value.kind == "float":
        brief["entries"] = [_number(wire.build(value))]
    elif value.kind == "other":
        brief["type"] = value.text
    return brief


def observation(seen: Observation | None) -> dict[str, Any]:
    """What the code did, small enough to keep for each case."""
    if seen is None:
        return {}
    return {
        "status": seen.status,
        "detail": seen.detail,
        "value": _brief(seen.value),
        "calls": seen.call_count,
        "points": [
            {"at": _brief(call.point), "answer": None if call.answer is None else _number(call.answer)}
            for call in seen.calls[:KEPT_POINTS]
        ],
        "raised": seen.raised.kind if seen.raised else None,
        "line": seen.raised.line if seen.raised else 0,
    }
