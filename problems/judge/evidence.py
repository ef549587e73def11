"""The one case that shows a learner what went wrong, as plain data that a page can draw and a sentence can say.

Only samples and feedback cases come in here: everything of them may be shown. A case about a single number becomes a
curve with the points at which ``f`` was called and the points of the formula; any other one becomes, entry by entry,
how far the calls moved it, in steps of h.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from problems.judge import record
from problems.judge.behaviour import given_step, numbers
from problems.judge.cases import Case, Refused, Remote, evaluate
from problems.judge.jail import wire
from problems.judge.verdicts import CaseResult, Reason, Verdict

OPEN_GROUPS: Final = ("sample", "feedback")
SAMPLES: Final = 64
ROWS: Final = 6
FARTHEST: Final = 4.0  # points farther from x than this many steps are named, but not drawn
_DRAWN: Final = (None, Reason.TOLERANCE, Reason.NAN, Reason.CALLS, Reason.MUTATED)


def choose(cases: Sequence[Case], results: Sequence[CaseResult]) -> tuple[Case, CaseResult] | None:
    """The failing open case that shows most: a step that the caller gives first, and few numbers."""
    failing = [
        (case, result)
        for case, result in zip(cases, results, strict=True)
        if case.group in OPEN_GROUPS and result.verdict not in (Verdict.AC, Verdict.SKIPPED, Verdict.JE)
    ]
    if not failing:
        return None
    return min(failing, key=lambda pair: (given_step(pair[0]) is None, int(np.size(pair[0].expected))))


def evidence(case: Case, result: CaseResult) -> dict[str, Any]:
    """What is known of a failing open case, JSON-ready. Raises ValueError for a case that may not be shown."""
    if case.group not in OPEN_GROUPS:
        raise ValueError(f"{case.name} is not open")
    seen = result.observation
    made: dict[str, Any] = {
        "name": case.name,
        "group": case.group,
        "note": case.note,
        "verdict": str(result.verdict),
        "said": result.message,
        "values": [list(pair) for pair in case.shown],
        "got": record.show(seen.value)[:600] if seen and seen.value is not None else "",
        "line": seen.raised.line if seen and seen.raised else 0,
        "drawing": None,
    }
    if seen is not None and result.verdict is Verdict.WA and result.reason in _DRAWN:
        points = [numbers(call.point) for call in seen.calls]
        got = numbers(seen.value) if seen.value is not None else None
        made["drawing"] = drawing(case, points, got)
    return made


def drawing(case: Case, points: Sequence[Any], got: Any) -> dict[str, Any] | None:
    """The picture's data, or None when the calls cannot be compared with x (none, or points of another size)."""
    remote = next((argument for argument in case.arguments if isinstance(argument, Remote)), None)
    base = np.asarray(case.arguments[1], dtype=np.float64)
    moves = [np.asarray(p).reshape(-1) - base.reshape(-1) for p in points if p is not None and p.size == base.size]
    if remote is None or not moves or not base.size:
        return None
    step = given_step(case)
    sizes = [abs(float(v)) for move in moves for v in move if v and math.isfinite(v)]
    unit = step if step else float(np.median(sizes)) if sizes else 0.0
    if unit <= 0.0:
        return None
    if base.ndim == 0:
        return _curve(remote, float(base), unit, step is not None, [float(m[0]) for m in moves], got, case.expected)
    return _strip(base.shape, unit, step is not None, moves)


def _curve(
    remote: Remote, x: float, h: float, given: bool, moves: Sequence[float], got: Any, expected: float
) -> dict[str, Any]:
    def f(t: float) -> float | None:
        try:
            value = evaluate(remote, wire.describe(t))
        except Refused:
            return None
        return value if math.isfinite(value) else None

    drawn = list(dict.fromkeys(m for m in moves if abs(m) <= FARTHEST * h))
    half = max([1.5 * h, *(abs(m) + h / 2 for m in drawn)])
    slope = float(got) if got is not None and np.shape(got) == () and math.isfinite(float(got)) else None
    return {
        "kind": "curve",
        "h": f"{h:.4g}",
        "given": given,
        "curve": [[t, f(x + t)] for t in (half * (2 * i / SAMPLES - 1) for i in range(SAMPLES + 1))],
        "at": f(x),
        "yours": [_place(x, m, f) for m in dict.fromkeys(moves)],
        "wanted": [_place(x, m, f) for m in (-h, h)],
        "ticks": [[-h, "x − h", f"{x - h:.6g}"], [0.0, "x", f"{x:.6g}"], [h, "x + h", f"{x + h:.6g}"]],
        "slopes": [_number(expected), slope],
        "said": [f"{expected:.6g}", record_number(got)],
    }


def record_number(got: Any) -> str:
    """A returned number, short; empty when it is none."""
    return f"{float(got):.6g}" if got is not None and np.shape(got) == () else ""


def _place(x: float, move: float, f: Any) -> dict[str, Any]:
    value = f(x + move)
    return {"t": move, "f": value, "x": f"{x + move:.9g}", "fx": "NaN" if value is None else f"{value:.6g}"}


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _strip(shape: tuple[int, ...], h: float, given: bool, moves: Sequence[Any]) -> dict[str, Any]:
    """For each of the first entries: by how many steps the calls moved it, and whether others moved with it."""
    rows: list[dict[str, Any]] = []
    steps = [np.array([float(f"{v / h:.3g}") if math.isfinite(v) else math.nan for v in move]) for move in moves]
    for flat, index in enumerate(np.ndindex(shape)):
        if len(rows) == ROWS:
            break
        seen: dict[float, bool] = {}
        for move in steps:
            if move[flat] and math.isfinite(move[flat]):
                seen[float(move[flat])] = seen.get(float(move[flat]), True) and int(np.count_nonzero(move)) > 1
        name = f"x[{', '.join(map(str, index))}]"
        rows.append({"entry": name, "yours": [[at, seen[at]] for at in sorted(seen)]})
    return {
        "kind": "strip",
        "h": f"{h:.4g}",
        "given": given,
        "rows": rows,
        "still": sum(not np.any(move) for move in steps),
        "left": int(np.prod(shape)) - len(rows),
    }
