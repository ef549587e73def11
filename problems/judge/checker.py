"""Is this observation right? Made outside of the sandbox, from values only.

Order: kind, shape, dtype, NaN, input unchanged bit for bit, number of calls, then
``|got - expected| <= atol + rtol * |expected|``, written so that a NaN fails. The first thing that is wrong is said.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from problems.judge.cases import Case, wire_arguments
from problems.judge.jail import wire
from problems.judge.jail.wire import Value
from problems.judge.verdicts import CaseResult, Observation, Reason, Verdict

_DTYPE_NAMES = {code: str(np.dtype(code)) for code in wire.DTYPES}
_ENDED = {
    "timeout": (Verdict.TLE, "Your code did not finish in {limit:g} seconds."),
    "memory": (Verdict.MLE, "Your code needed more memory than the {memory} MiB it may use."),
    "output": (Verdict.OLE, "Your code printed more than {output} KiB."),
    "malformed": (Verdict.RE, "Your code disturbed the connection to the judge, so its answer cannot be read."),
}


def _shape(shape: tuple[int, ...]) -> str:
    return str(shape) if shape else "() (a single number)"


def kind_of(value: Value) -> str:
    """What came back, in a learner's words."""
    names = {
        "none": "None",
        "bool": "a boolean",
        "int": "an int",
        "float": "a float",
        "complex": "a complex number",
        "str": "a string",
    }
    if value.kind in names:
        return names[value.kind]
    if value.kind in ("list", "tuple"):
        return f"a {value.kind}"
    if value.kind in ("array", "scalar"):
        what = "an array" if value.kind == "array" else "a NumPy number"
        return f"{what} of type {_DTYPE_NAMES[value.dtype]}"
    if value.kind == "huge":
        return f"an array of shape {value.shape}"
    return value.text if value.text.startswith("an ") else f"an object of type {value.text}"


def _is_number(value: Value) -> bool:
    return value.kind in ("float", "int", "bool", "complex", "scalar") or (value.kind == "array" and value.shape == ())


def _dtype(value: Value) -> str:
    """The dtype of a number or an array; plain Python numbers by their name."""
    return _DTYPE_NAMES[value.dtype] if value.dtype else value.kind


def wrong(case: Case, seen: Observation) -> tuple[Reason, str] | None:
    """None when the returned value is right, else the first reason and one sentence that shows no hidden number."""
    value = seen.value
    if value is None:
        raise ValueError("there is no value to check")
    expected = np.asarray(case.expected, dtype=np.float64)
    scalar = not isinstance(case.expected, np.ndarray)
    if scalar:
        if value.kind == "huge" or (value.kind == "array" and value.shape):
            return Reason.SHAPE, f"x is a single number, so the answer is a number too; yours has shape {value.shape}."
        if not _is_number(value):
            return Reason.KIND, f"The answer must be a number; yours is {kind_of(value)}."
    else:
        if value.kind == "huge":
            return Reason.SHAPE, f"The answer must have shape {expected.shape}; yours has shape {value.shape}."
        if value.kind != "array" and not _is_number(value):
            return Reason.KIND, f"The answer must be a NumPy array; yours is {kind_of(value)}."
        if value.shape != expected.shape:
            return Reason.SHAPE, f"The answer must have shape {expected.shape}; yours has shape {_shape(value.shape)}."
    if _dtype(value) not in ("float64", "float"):
        return Reason.DTYPE, f"The answer must hold float64 numbers; yours is {kind_of(value)}."
    got = np.asarray(wire.build(value), dtype=np.float64)
    hidden = np.isnan(expected)
    if bool(np.any(np.isnan(got) != hidden)) or bool(np.any(np.isinf(got) & ~hidden)):
        if bool(np.any(hidden & ~np.isnan(got))):
            return Reason.NAN, "Where f is NaN, the gradient entry must be NaN too; yours hides it."
        return Reason.NAN, "An entry of your answer is NaN or infinite where a finite slope exists."
    if not _unchanged(case, seen):
        return (
            Reason.MUTATED,
            "Your function changed the x that the caller passed in; it must be exactly the same afterwards.",
        )
    if case.max_calls is not None and seen.call_count > case.max_calls:
        return Reason.CALLS, f"You called f {seen.call_count} times; {case.max_calls} calls are enough here."
    with np.errstate(all="ignore"):
        close = np.abs(got - expected) <= case.atol + case.rtol * np.abs(expected)
    if not bool(np.all(close | hidden)):
        count = int(np.sum(~(close | hidden)))
        which = (
            "The number is" if scalar else f"{count} of {expected.size} entries are" if count != 1 else "One entry is"
        )
        return Reason.TOLERANCE, f"{which} not close enough to the central difference."
    return None


def _unchanged(case: Case, seen: Observation) -> bool:
    before = wire_arguments(case)
    if len(before) != len(seen.after):
        return False
    return all(a.kind == "remote" or a.kind == "local" or _same(a, b) for a, b in zip(before, seen.after, strict=True))


def _same(a: Value, b: Value) -> bool:
    """Equal as values, bit for bit; the memory layout of an array does not matter."""
    if a._replace(layout="c", items=()) != b._replace(layout="c", items=()) or len(a.items) != len(b.items):
        return False
    return all(_same(x, y) for x, y in zip(a.items, b.items, strict=True))


def ended(status: str, detail: str, case_seconds: float, memory: int, output: int) -> tuple[Verdict, str]:
    """Verdict and sentence for a child that did not come back."""
    if status in _ENDED:
        verdict, sentence = _ENDED[status]
        return verdict, sentence.format(limit=case_seconds, memory=memory >> 20, output=output >> 10)
    return Verdict.RE, f"The process of your code ended before it returned an answer ({detail})."


def check(case: Case, seen: Observation, limits: Any) -> CaseResult:
    """The verdict of one case."""

    def result(verdict: Verdict, reason: Reason | None, message: str) -> CaseResult:
        return CaseResult(case.name, case.group, case.note, verdict, reason, message, seen.ms, seen)

    if seen.status == "raised" and seen.raised is not None:
        if seen.raised.kind == "MemoryError":
            return result(*_memory(limits))
        where = f" in line {seen.raised.line}" if seen.raised.line else ""
        # what an exception says could carry a hidden input outside
        said = f": {seen.raised.message}" if seen.raised.message and case.group != "secret" else ""
        return result(Verdict.RE, None, f"{seen.raised.kind}{where}{said}")
    if seen.status != "returned":
        verdict, message = ended(seen.status, seen.detail, limits.case_seconds, limits.memory, limits.output)
        return result(verdict, None, message)
    if case.expected is None:
        return result(Verdict.AC, None, "")
    fault = wrong(case, seen)
    if fault is None:
        return result(Verdict.AC, None, "")
    return result(Verdict.WA, *fault)


def _memory(limits: Any) -> tuple[Verdict, None, str]:
    verdict, message = ended("memory", "", limits.case_seconds, limits.memory, limits.output)
    return verdict, None, message
