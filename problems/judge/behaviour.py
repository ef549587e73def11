"""What a program did in one case, without the style in which it did it.

Two programs with the same error in their thinking may share no line of code, yet they return the same kind of thing,
miss the answer by the same amount, and call the function at the same places. A ``Behaviour`` keeps just that. It is
the common language of the matcher and of the relation facts, and it is made from observations only, never from source
text.

Convention for the call points: where a case has a remote function, the argument after it is the point, and a number
after that is the step. Problems without such a function have an empty trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from problems.judge.cases import Case, Remote, wire_arguments
from problems.judge.jail import wire
from problems.judge.jail.wire import Value
from problems.judge.verdicts import Call, CaseResult, Observation, Verdict

Array = NDArray[np.float64]
NUMBERS: Final = ("bool", "int", "float", "complex", "scalar")
TINY_STEP, LARGE_STEP = 2e-9, 1.5e-3  # own steps outside of this range are an error of their own
NICE_MULTIPLES: Final = (0.5, 1.0, 2.0, 3.0, 4.0)
KEPT_CALLS: Final = 512  # looked at in one case
UNMOVED = 1e-3  # a coordinate that moved by less than this share of the largest move did not move: it drifted
NEAR = 1e-2  # an error below this share of the largest expected entry is one of precision, above it one of kind


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One case of one program. ``value`` is None when what came back is not numbers.

    ``size`` of the error: ok, near, gross, or none where there is no value of the right shape. ``flags`` are
    properties of the value that the right answer lacks. ``trace`` are the classes of the call points in units of the
    step.
    """

    passed: bool
    outcome: str
    kind: str = ""
    shape: tuple[int, ...] = ()
    dtype: str = ""
    mutated: str = "no"
    value: Array | None = None
    size: str = "none"
    flags: frozenset[str] = frozenset()
    trace: frozenset[str] = frozenset()


def base_point(case: Case) -> Array | None:
    """The point that a case hands to the program, as float64; None when the case has no remote function."""
    position = next((i for i, argument in enumerate(case.arguments) if isinstance(argument, Remote)), None)
    if position is None or position + 1 >= len(case.arguments):
        return None
    return np.asarray(case.arguments[position + 1], dtype=np.float64)


def given_step(case: Case) -> float | None:
    """The step that the caller gives, or None where the program uses its own."""
    position = next((i for i, argument in enumerate(case.arguments) if isinstance(argument, Remote)), None)
    if position is None or position + 2 >= len(case.arguments):
        return None
    step = case.arguments[position + 2]
    return float(step) if isinstance(step, int | float) else None


def behaviour(case: Case, result: CaseResult) -> Behaviour:
    """What ``result`` shows. A case without an observation (not run) is an outcome of its own."""
    seen = result.observation
    passed = result.verdict is Verdict.AC
    if seen is None:
        return Behaviour(passed, "not run")
    trace = trace_of(case, seen)
    if seen.status == "raised" and seen.raised is not None:
        return Behaviour(passed, seen.raised.kind, trace=trace)
    if seen.status != "returned" or seen.value is None:
        return Behaviour(passed, seen.status, trace=trace)
    kind, shape, dtype = form_of(seen.value)
    got = numbers(seen.value)
    expected = None if case.expected is None else np.asarray(case.expected, dtype=np.float64)
    return Behaviour(
        passed,
        "returned",
        kind,
        shape,
        dtype,
        mutation(case, seen),
        got,
        "ok" if passed else _size(got, expected),
        frozenset() if got is None or expected is None else _flags(got, expected),
        trace,
    )


def behaviours(cases: Sequence[Case], results: Sequence[CaseResult]) -> tuple[Behaviour, ...]:
    """The behaviours behind the results of the same cases."""
    return tuple(behaviour(case, result) for case, result in zip(cases, results, strict=True))


# --- what came back -----------------------------------------------------------------------------------------------


def form_of(value: Value) -> tuple[str, tuple[int, ...], str]:
    """(kind, shape, dtype class). A number is a number, however it is wrapped."""
    if value.kind in NUMBERS or (value.kind == "array" and value.shape == ()):
        return "number", (), dtype_class(value)
    if value.kind in ("array", "huge"):
        return "array", value.shape, dtype_class(value)
    if value.kind in ("list", "tuple"):
        inner = numbers(value)
        return value.kind, () if inner is None else inner.shape, ""
    return value.kind if value.kind != "other" else value.text, (), ""


def dtype_class(value: Value) -> str:
    """float64, float32 (and shorter), int, bool, complex, or empty."""
    if value.kind in ("bool", "int", "complex"):
        return value.kind
    if value.kind == "float":
        return "float64"
    code = value.dtype.lstrip("<|")
    if code == "f8":
        return "float64"
    return {"f": "float32", "i": "int", "u": "int", "b": "bool", "c": "complex"}.get(code[:1], "")


def numbers(value: Value) -> Array | None:
    """A value as a float64 array; complex parts are dropped, what is no rectangle of numbers is None."""
    if value.kind not in (*NUMBERS, "array", "list", "tuple"):
        return None
    try:
        with np.errstate(all="ignore"):
            array = np.asarray(wire.build(value))
            return np.asarray(array.real if array.dtype.kind == "c" else array, dtype=np.float64)
    except (ValueError, TypeError, OverflowError, wire.WireError):
        return None


def mutation(case: Case, seen: Observation) -> str:
    """Whether the caller's arguments changed: no, drift (a few units in the last place), yes."""
    worst = "no"
    for before, after in zip(wire_arguments(case), seen.after, strict=False):
        if before.kind in ("remote", "local") or before._replace(layout="c") == after._replace(layout="c"):
            continue
        old, new = numbers(before), numbers(after)
        if old is None or new is None or old.shape != new.shape or form_of(before) != form_of(after):
            return "yes"
        if np.array_equal(old, new, equal_nan=True):
            continue
        with np.errstate(all="ignore"):
            close = np.allclose(old, new, rtol=1e-14, atol=1e-14, equal_nan=True)
        if not close:
            return "yes"
        worst = "drift"
    return worst


def largest(array: Array) -> float:
    """The largest absolute value among the finite entries; 0 when there is none."""
    finite = array[np.isfinite(array)]
    return float(np.max(np.abs(finite), initial=0.0))


def _size(got: Array | None, expected: Array | None) -> str:
    if got is None or expected is None or got.shape != expected.shape:
        return "none"
    if bool(np.any(np.isnan(got) != np.isnan(expected))):
        return "gross"
    if bool(np.any(np.isinf(got) & np.isfinite(expected))):
        return "gross"
    with np.errstate(all="ignore"):
        worst = largest(got - expected)
    return "near" if worst <= NEAR * max(largest(expected), 1e-30) else "gross"


def is_rounded(values: Array, decimals: int) -> bool:
    """Whether all entries are whole multiples of 10**-decimals, to float64 accuracy."""
    with np.errstate(all="ignore"):
        scaled = values * 10.0**decimals
        return bool(np.all(np.abs(scaled - np.round(scaled)) <= 1e-9 * np.maximum(1.0, np.abs(scaled))))


def _flags(got: Array, expected: Array) -> frozenset[str]:
    """Properties of the value that the expected one does not have."""
    flags = set()
    finite = got[np.isfinite(got)]
    wanted = expected[np.isfinite(expected)]
    if np.any(np.isnan(got)) and not np.any(np.isnan(expected)):
        flags.add("nan")
    if np.any(np.isinf(got)) and not np.any(np.isinf(expected)):
        flags.add("inf")
    if finite.size and not np.any(finite) and np.any(wanted):
        flags.add("zeros")
    elif got.shape == expected.shape and np.any((got == 0.0) & (expected != 0.0)):
        flags.add("some-zeros")
    if finite.size and np.any(finite) and is_rounded(finite, 6) and not is_rounded(wanted, 6):
        flags.add("rounded")
    if finite.size > 1 and np.ptp(finite) == 0.0 and np.any(finite) and wanted.size > 1 and np.ptp(wanted) > 0.0:
        flags.add("all-equal")
    if finite.size > 1 and abs(float(np.linalg.norm(finite)) - 1.0) < 1e-9 < abs(float(np.linalg.norm(wanted)) - 1.0):
        flags.add("unit-length")
    return frozenset(flags)


# --- where the function was called --------------------------------------------------------------------------------


def moves_of(case: Case, calls: Sequence[Call]) -> list[Array]:
    """For each call at a point of x's size: how far it is from x, in x's shape. Other calls are left out."""
    base = base_point(case)
    if base is None:
        return []
    moves = []
    for call in calls:
        point = numbers(call.point)
        if point is not None and point.size == base.size:
            with np.errstate(all="ignore"):
                moves.append(point.reshape(base.shape) - base)
    return moves


def trace_of(case: Case, seen: Observation) -> frozenset[str]:
    """The classes of the points where the function was called, free of order and of the number of repetitions."""
    base = base_point(case)
    if base is None:
        return frozenset()
    if seen.call_count == seen.misused == 0:
        return frozenset({"never called"})
    trace = set()
    if seen.misused:
        trace.add("called with more than a point")
    if case.max_calls is not None and seen.call_count > case.max_calls:
        trace.add("too many calls")
    calls = seen.calls[:KEPT_CALLS]
    for call in calls:
        trace |= _point_classes(call, base)
    moves = moves_of(case, calls)
    if moves:
        exact = "point is float32" not in trace
        trace |= _move_classes(np.stack(moves).reshape(len(moves), -1), given_step(case), exact)
    return frozenset(trace)


def _point_classes(call: Call, base: Array) -> set[str]:
    """What is unusual about one point: its type or its shape."""
    classes = set()
    kind, shape, dtype = form_of(call.point)
    if kind not in ("number", "array"):
        classes.add(f"point is {kind if kind in ('list', 'tuple', 'none') else 'an object'}")
        return classes
    if dtype != "float64":
        classes.add(f"point is {dtype or 'an object'}")
    if shape != base.shape:
        size = int(np.prod(shape))
        same = size == base.size
        classes.add(
            "point is flat" if same and len(shape) == 1 else "point reshaped" if same else "point has another size"
        )
    return classes


def _move_classes(moves: Any, step: float | None, exact: bool) -> set[str]:
    """Classes of moves (calls x entries): which entries move, to which side, by how many steps.

    ``exact`` is False where rounding makes the number of steps meaningless; so does a step near the spacing of floats.
    """
    with np.errstate(all="ignore"):
        distance = np.where(np.isfinite(moves), np.abs(moves), 0.0)
    farthest = float(distance.max(initial=0.0))
    if farthest == 0.0:
        return {"at x", "moves no entry"}
    moved = distance > UNMOVED * farthest
    classes = set()
    unit = step
    if unit is None:
        unit = float(distance[moved].min())
        classes.add("step tiny" if unit < TINY_STEP else "step large" if unit > LARGE_STEP else "step fine")
        exact = exact and unit >= TINY_STEP
    entries = moves.shape[1]
    for row, which in zip(moves, moved, strict=True):
        count = int(which.sum())
        if count == 0:
            classes.add("at x")
            continue
        amounts = row[which]
        if count == 1:
            classes.add(f"one entry {_amount(float(amounts[0]), unit, exact)}")
        else:
            group = "all entries" if count == entries else "several entries"
            same = float(np.ptp(amounts)) <= UNMOVED * farthest
            amount = _amount(float(amounts[0]), unit, exact) if same else "by different amounts"
            classes.add(f"{group} {amount}")
    classes.add(_coverage(moved.any(axis=0)))
    return classes


def _amount(move: float, unit: float, exact: bool) -> str:
    if not exact:
        return "+" if move > 0 else "-"
    times = abs(move) / unit if unit else np.inf
    nice = next((m for m in NICE_MULTIPLES if abs(times - m) <= 1e-4 * m), None)
    size = f"{nice:g}" if nice is not None else "far less than a" if times < 0.01 else "an odd number of"
    return f"{'+' if move > 0 else '-'}{size} step"


def _coverage(moved: Any) -> str:
    count, entries = int(moved.sum()), int(moved.size)
    if count == entries:
        return "moves every entry"
    if entries > 2 and count == entries - 1 and (not moved[0] or not moved[-1]):
        return "leaves out an edge entry"
    if count == 1:
        return "moves one entry only"
    return "leaves out entries"
