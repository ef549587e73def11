"""Facts about how wrong answers relate to the right ones, for any problem: no known wrong program is needed.

A relation is said only when it holds in every failing case that can tell, and when such cases are at least half of
the failing ones. A condition ("fails exactly when ...") is said only when it separates all failing cases from all
passing ones. The sentences name no input and no expected number, so they are safe for hidden cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from problems.judge.behaviour import Array, behaviours, given_step, is_rounded, largest
from problems.judge.cases import Case, Local, Remote
from problems.judge.verdicts import CaseResult, Verdict

TIGHT, LOOSE = 1e-6, 1e-4  # relative accuracy of a relation, with a given step and with the program's own
FLOAT32: Final = 3e-6
MOST_DECIMALS: Final = 6


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that is true of a submission. ``id`` names its kind; ``sentence`` is for the learner."""

    id: str
    sentence: str


@dataclass(frozen=True, slots=True)
class _Pair:
    """The right and the given answer of one failing case, with what a relation may depend on."""

    expected: Array
    got: Array
    step: float | None
    loose: bool

    def same(self, a: Any, b: Any, scale: float = 0.0) -> bool:
        """Equal shape, and equal up to this case's accuracy relative to the largest entry (or to ``scale``)."""
        one, two = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
        if one.shape != two.shape:
            return False
        tolerance = LOOSE if self.loose else TIGHT
        with np.errstate(all="ignore"):
            close = np.abs(one - two) <= tolerance * max(largest(two), scale)
        return bool(np.all(close | (np.isnan(one) & np.isnan(two))))


Relation = Callable[[_Pair], bool | None]


def facts(cases: Sequence[Case], results: Sequence[CaseResult]) -> list[Fact]:
    """All facts about these results, the most telling first. Empty when every case passes or nothing holds."""
    run = [(c, r) for c, r in zip(cases, results, strict=True) if r.verdict not in (Verdict.SKIPPED, Verdict.JE)]
    failing = [(c, r) for c, r in run if r.verdict is not Verdict.AC]
    if not failing:
        return []
    found = [*_factor(_pairs(failing)), *_relations(_pairs(failing)), *_mutation(failing), *_conditions(run)]
    return found


def _pairs(failing: Sequence[tuple[Case, CaseResult]]) -> list[_Pair]:
    pairs = []
    for (case, _), seen in zip(failing, behaviours([c for c, _ in failing], [r for _, r in failing]), strict=True):
        if seen.value is not None and case.expected is not None:
            step = given_step(case)
            remote = any(isinstance(argument, Remote) for argument in case.arguments)
            expected = np.asarray(case.expected, dtype=np.float64)
            pairs.append(_Pair(expected, seen.value, step, remote and step is None))
    return pairs


def _holds(pairs: Sequence[_Pair], relation: Relation) -> bool:
    """In every pair that can tell, and those are at least half of all."""
    told = [answer for pair in pairs if (answer := relation(pair)) is not None]
    return bool(told) and all(told) and 2 * len(told) >= len(pairs)


# --- a constant factor --------------------------------------------------------------------------------------------

_FACTORS: Final[tuple[tuple[str, str, Callable[[_Pair], float | None]], ...]] = (
    ("factor-2", "Every value is twice the right one.", lambda p: 2.0),
    ("factor-half", "Every value is half of the right one.", lambda p: 0.5),
    ("negated", "Every value has the wrong sign; the sizes are right.", lambda p: -1.0),
    ("factor-h", "Every value is the right one times h.", lambda p: p.step),
    ("factor-1/h", "Every value is the right one divided by h.", lambda p: 1 / p.step if p.step else None),
    ("factor-h2", "Every value is the right one times h squared.", lambda p: p.step**2 if p.step else None),
    ("factor-2h", "Every value is the right one times 2h.", lambda p: 2 * p.step if p.step else None),
    ("factor-n", "Every value is the right one times the number of entries.", lambda p: float(p.expected.size)),
    ("factor-1/n", "Every value is the right one divided by the number of entries.", lambda p: 1.0 / p.expected.size),
)  # fmt: skip


def _ratio(pair: _Pair) -> float | None:
    """k where got = k * expected in all entries; None when there is no such k or it cannot be told."""
    if pair.got.shape != pair.expected.shape or not pair.expected.size:
        return None
    finite = np.isfinite(pair.expected) & np.isfinite(pair.got)
    expected, got = pair.expected[finite], pair.got[finite]
    power = float(np.sum(expected * expected))
    if power == 0.0:
        return None
    k = float(np.sum(got * expected)) / power
    return k if k != 0.0 and pair.same(pair.got, k * pair.expected) else None


def _factor(pairs: Sequence[_Pair]) -> Iterator[Fact]:
    """At most one fact: a factor that depends on nothing, or on h, or on the number of entries."""
    ratios = [(pair, k) for pair in pairs if (k := _ratio(pair)) is not None]
    testable = [p for p in pairs if p.got.shape != p.expected.shape or np.any(p.expected[np.isfinite(p.expected)])]
    if not ratios or len(ratios) < len(testable):
        return
    if all(abs(k - 1.0) <= LOOSE for _, k in ratios):
        return  # then the numbers are right and something else is wrong

    def near(k: float, wanted: float | None) -> bool:
        return wanted is not None and abs(k - wanted) <= 1e-3 * abs(wanted)

    for name, sentence, wanted in _FACTORS:
        told = [(k, value) for pair, k in ratios if (value := wanted(pair)) is not None and value != 1.0]
        if told and 2 * len(told) >= len(ratios) and all(near(k, value) for k, value in told):
            yield Fact(name, sentence)
            return
    first = ratios[0][1]
    if len(ratios) > 1 and all(near(k, first) for _, k in ratios):
        yield Fact("factor", f"Every value is the right one times {first:.4g}.")


# --- other relations of the whole answer --------------------------------------------------------------------------


def _changed(pair: _Pair, wanted: Any) -> bool | None:
    """Whether the answer is ``wanted``; None where that is the right answer anyway."""
    return None if pair.same(wanted, pair.expected) else pair.same(pair.got, wanted)


def _added(pair: _Pair, wanted: Any) -> bool | None:
    """Like ``_changed`` for sums: what cancels in a sum still limits its accuracy."""
    if pair.same(wanted, pair.expected):
        return None
    return pair.same(pair.got, wanted, largest(pair.expected) * pair.expected.size)


def _along(function: Callable[..., Any], axis: int) -> Relation:
    def relation(pair: _Pair) -> bool | None:
        return _added(pair, function(pair.expected, axis=axis)) if pair.expected.ndim > 1 else None

    return relation


def _many(wanted: Callable[[Array], Any]) -> Relation:
    """A relation of answers with more than one entry."""
    return lambda pair: _changed(pair, wanted(pair.expected)) if pair.expected.size > 1 else None


def _total(wanted: Callable[[Array], Any]) -> Relation:
    return lambda pair: _added(pair, wanted(pair.expected)) if pair.expected.size > 1 else None


def _matrix(wanted: Callable[[Array], Any]) -> Relation:
    return lambda pair: _changed(pair, wanted(pair.expected)) if pair.expected.ndim > 1 else None


def _normalised(length: Callable[[Array], Any]) -> Relation:
    def relation(pair: _Pair) -> bool | None:
        total = float(length(pair.expected[np.isfinite(pair.expected)]))
        return _changed(pair, pair.expected / total) if total else None

    return relation


def _flat(pair: _Pair) -> bool | None:
    if pair.expected.ndim == 1:
        return None
    return pair.same(pair.got, pair.expected.reshape(-1))


def _nan_replaced(pair: _Pair) -> bool | None:
    hidden = np.isnan(pair.expected)
    if not np.any(hidden):
        return None
    return pair.got.shape == pair.expected.shape and not np.any(np.isnan(pair.got)) and pair.same(
        np.where(hidden, 0.0, pair.got), np.where(hidden, 0.0, pair.expected)
    )  # fmt: skip


def _edge(first: bool) -> Relation:
    def relation(pair: _Pair) -> bool | None:
        if pair.expected.size < 2 or pair.got.shape != pair.expected.shape:
            return None if pair.expected.size < 2 else False
        got, wanted = pair.got.reshape(-1), pair.expected.reshape(-1).copy()
        edge = 0 if first else -1
        if np.isnan(wanted[edge]):
            return None
        wanted[edge] = 0.0
        return _changed(_Pair(pair.expected.reshape(-1), got, pair.step, pair.loose), wanted)

    return relation


def _only_first(pair: _Pair) -> bool | None:
    if pair.expected.size < 2 or pair.got.shape != pair.expected.shape:
        return None if pair.expected.size < 2 else False
    wanted = np.zeros(pair.expected.size)
    wanted[0] = pair.expected.reshape(-1)[0]
    return _changed(pair, wanted.reshape(pair.expected.shape))


def _all_equal(pair: _Pair) -> bool | None:
    if pair.expected.size < 2 or not np.any(np.isfinite(pair.got)):
        return None
    if pair.same(pair.expected, np.full(pair.expected.shape, pair.expected.flat[0])):
        return None
    if pair.got.shape != pair.expected.shape:
        return False
    return largest(pair.got) > 0.0 and pair.same(pair.got, np.full(pair.got.shape, pair.got.flat[0]))


def _zeros(pair: _Pair) -> bool | None:
    return _changed(pair, np.zeros(pair.expected.shape)) if pair.got.shape == pair.expected.shape else False


def _rounded(decimals: int) -> Relation:
    def relation(pair: _Pair) -> bool | None:
        if pair.got.shape != pair.expected.shape or not np.all(np.isfinite(pair.expected)):
            return None
        with np.errstate(all="ignore"):
            off = np.abs(pair.got - np.round(pair.expected, decimals))
        # an own step's noise may move a value over the edge between two roundings
        return is_rounded(pair.got, decimals) and bool(np.all(off <= (1.01 if pair.loose else 1e-6) * 10.0**-decimals))

    return relation


def _truncated(pair: _Pair) -> bool | None:
    return _changed(pair, np.trunc(pair.expected)) if pair.got.shape == pair.expected.shape else False


def _single(pair: _Pair) -> bool | None:
    """Right only to float32's accuracy."""
    if pair.got.shape != pair.expected.shape or not np.all(np.isfinite(pair.expected)):
        return False
    with np.errstate(all="ignore"):
        scale, worst = largest(pair.expected), largest(pair.got - pair.expected)
        exact = np.array_equal(pair.got, pair.got.astype(np.float32).astype(np.float64), equal_nan=True)
    return None if worst == 0.0 else exact and worst <= FLOAT32 * scale


_RELATIONS: Final[tuple[tuple[str, str, Relation], ...]] = (
    ("zeros", "Every value is zero.", _zeros),
    ("nan-replaced", "Where the answer is NaN you return a number; the other values are right.", _nan_replaced),
    ("absolute", "Every value lost its sign; the sizes are right.", _many(np.abs)),
    ("transposed", "The values are right, but rows and columns are exchanged.", _matrix(np.transpose)),
    ("flattened", "The values are right, but they come back as a flat list without the shape.", _flat),
    ("reversed", "The values are right, but in reversed order.", _many(lambda e: e.reshape(-1)[::-1].reshape(e.shape))),
    ("shifted", "The values are right, but each sits one place too late.", _many(lambda e: np.roll(e, 1))),
    ("shifted-back", "The values are right, but each sits one place too early.", _many(lambda e: np.roll(e, -1))),
    ("first-missing", "The first entry is zero; all others are right.", _edge(True)),
    ("last-missing", "The last entry is zero; all others are right.", _edge(False)),
    ("only-first", "Only the first entry is right; all others are zero.", _only_first),
    ("all-equal", "The same value stands in every entry.", _all_equal),
    ("cumulated", "Every value also holds the sum of those before it.",
     _total(lambda e: np.cumsum(e).reshape(e.shape))),
    ("summed", "One number came back: the sum of the right values.", _total(np.sum)),
    ("averaged", "One number came back: the mean of the right values.", _total(np.mean)),
    ("columns-summed", "The right values are added up along the first axis.", _along(np.sum, 0)),
    ("rows-summed", "The right values are added up along the last axis.", _along(np.sum, -1)),
    ("columns-averaged", "The right values are averaged along the first axis.", _along(np.mean, 0)),
    ("rows-averaged", "The right values are averaged along the last axis.", _along(np.mean, -1)),
    ("normalised", "The values are divided by their length; only the direction is right.", _normalised(np.linalg.norm)),
    ("divided-by-largest", "The values are divided by the largest of them.",
     _normalised(lambda e: np.max(np.abs(e), initial=0))),
    ("divided-by-sum", "The values are divided by their sum.", _normalised(np.sum)),
    ("truncated", "The values are cut to whole numbers.", _truncated),
    *((f"rounded-{d}", f"The values are rounded to {d or 'whole numbers'}{' decimals' if d else ''}.", _rounded(d))
      for d in range(MOST_DECIMALS + 1)),
    ("float32", "The values are only as accurate as float32, about seven digits.", _single),
)  # fmt: skip


def _relations(pairs: Sequence[_Pair]) -> Iterator[Fact]:
    for name, sentence, relation in _RELATIONS:
        if _holds(pairs, relation):
            yield Fact(name, sentence)


def _mutation(failing: Sequence[tuple[Case, CaseResult]]) -> Iterator[Fact]:
    changed = {b.mutated for b in behaviours([c for c, _ in failing], [r for _, r in failing])}
    if "yes" in changed:
        yield Fact("input-changed", "After your function returned, the caller's input was different.")
    elif "drift" in changed:
        yield Fact("input-drifts", "After your function returned, the caller's input was off by a rounding error.")


# --- conditions: when it fails ------------------------------------------------------------------------------------


def _subject(case: Case) -> Any:
    """The argument that conditions speak of: the first that is not a function."""
    return next((a for a in case.arguments if not isinstance(a, Remote | Local)), None)


def _array(case: Case) -> Any:
    return np.asarray(_subject(case))


def _answer(case: Case) -> Any:
    return np.asarray(case.expected, dtype=np.float64)


_CONDITIONS: Final[tuple[tuple[str, str, Callable[[Case], bool]], ...]] = (
    ("list", "x is a plain list", lambda c: isinstance(_subject(c), list | tuple)),
    ("number", "x is a single number", lambda c: _array(c).ndim == 0),
    ("integers", "x holds whole numbers (an integer type)", lambda c: _array(c).dtype.kind in "iu"),
    ("float32", "x is a float32 array", lambda c: _array(c).dtype == np.float32),
    ("not-float64", "x is not of type float64", lambda c: _array(c).dtype != np.float64),
    ("transposed-view", "x is a transposed view", lambda c: _is_transposed(_subject(c))),
    ("not-contiguous", "x is a view that is not contiguous in memory", lambda c: not _is_contiguous(_subject(c))),
    ("matrix", "x has more than one dimension", lambda c: _array(c).ndim > 1),
    ("three-dimensions", "x has more than two dimensions", lambda c: _array(c).ndim > 2),
    ("not-square", "x is a matrix that is not square", lambda c: _array(c).ndim == 2 and len(set(_array(c).shape)) > 1),
    ("several-entries", "x has more than one entry", lambda c: _array(c).size > 1),
    ("a-zero", "an entry of x is zero", lambda c: bool(np.any(_array(c) == 0))),
    ("a-negative", "an entry of x is negative", lambda c: bool(np.any(_array(c) < 0))),
    ("a-nan", "the right answer holds a NaN", lambda c: bool(np.any(np.isnan(_answer(c))))),
    ("a-negative-answer", "a value of the right answer is negative", lambda c: bool(np.any(_answer(c) < 0))),
    ("given-step", "the caller gives the step h", lambda c: given_step(c) is not None),
    ("own-step", "your own default step is used", lambda c: given_step(c) is None and _has_remote(c)),
)  # fmt: skip


def _has_remote(case: Case) -> bool:
    return any(isinstance(argument, Remote) for argument in case.arguments)


def _is_contiguous(subject: Any) -> bool:
    return not isinstance(subject, np.ndarray) or bool(subject.flags.c_contiguous)


def _is_transposed(subject: Any) -> bool:
    return isinstance(subject, np.ndarray) and not subject.flags.c_contiguous and bool(subject.flags.f_contiguous)


def _conditions(run: Sequence[tuple[Case, CaseResult]]) -> Iterator[Fact]:
    """What all failing cases, and no passing one, have in common."""
    comparable = [(case, result) for case, result in run if case.expected is not None and _subject(case) is not None]
    outcomes = [result.verdict is not Verdict.AC for _, result in comparable]
    if all(outcomes) or not any(outcomes):
        return
    for name, words, condition in _CONDITIONS:
        if [condition(case) for case, _ in comparable] == outcomes:
            yield Fact(f"when-{name}", f"It fails exactly when {words}.")
