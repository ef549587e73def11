"""Names a learner's misconception by what the program did, compared with known wrong programs on the same cases.

A case that both pass says nothing. In every other case the two behaviours agree to a degree between 0 and 1; the
score of a known program is the weighted mean. Cases with the learner's own step count less, and only by the size of
what happened: two programs with the same error differ there by rounding noise. Names that are not sure are not given:
a wrong hint is worse than none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from problems.judge import checker
from problems.judge.behaviour import Array, Behaviour, base_point, behaviours, given_step, largest
from problems.judge.cases import Case
from problems.judge.sandbox import Limits
from problems.judge.verdicts import CaseResult, Observation, Verdict

NAMED: Final = 0.80
LIKELY: Final = 0.60
MARGIN: Final = 0.10  # ahead of the next misconception, for a name that is only likely
OWN_STEP_WEIGHT: Final = 0.4
CHANCE_WEIGHT: Final = 0.25
GIVEN_STEP_VALUE, OWN_STEP_VALUE = 0.6, 0.35  # share of the value in an agreement; the rest is the trace
ROUNDED_POINTS: Final = "point is float32"
NEVER_CALLED: Final = frozenset({"never called"})
SAME_VALUE: Final = 1e-6  # of the largest expected entry; coarse steps make different errors differ by far more
SAME_VALUE_OWN_STEP: Final = 1e-3
_NOT_RUN: Final = (Verdict.SKIPPED, Verdict.JE)


@dataclass(frozen=True, slots=True)
class KnownWrong:
    """A wrong program of the package and what it did in each case of one seed."""

    file: str
    misconception: str
    observations: Sequence[Observation]


@dataclass(frozen=True, slots=True)
class Match:
    """The best misconception, its score from 0 to 1, its lead over the next one, and whether it may be said as a
    fact.
    """

    misconception: str
    score: float
    margin: float
    named: bool


@dataclass(frozen=True, slots=True)
class Profile:
    """A program's behaviour in all cases of one seed."""

    file: str
    misconception: str
    behaviours: tuple[Behaviour, ...]


def profile(known: KnownWrong, cases: Sequence[Case]) -> Profile:
    """The behaviours of a known program. The same cases, in the same order, as its observations."""
    limits = Limits()
    results = [checker.check(case, seen, limits) for case, seen in zip(cases, known.observations, strict=True)]
    return Profile(known.file, known.misconception, behaviours(cases, results))


def match(known: Iterable[KnownWrong], observed: Sequence[CaseResult], cases: Sequence[Case]) -> Match | None:
    """The misconception behind ``observed``, or None when no name is sure enough to help."""
    return decide(rank([profile(program, cases) for program in known], observed, cases))


def decide(ranking: Sequence[tuple[str, float]]) -> Match | None:
    """The policy: at ``NAMED`` a name, from ``LIKELY`` with a clear lead a question, below that nothing."""
    if not ranking:
        return None
    best, score = ranking[0]
    margin = score - (ranking[1][1] if len(ranking) > 1 else 0.0)
    if score >= NAMED:
        return Match(best, score, margin, True)
    if score >= LIKELY and margin >= MARGIN:
        return Match(best, score, margin, False)
    return None


def rank(profiles: Iterable[Profile], observed: Sequence[CaseResult], cases: Sequence[Case]) -> list[tuple[str, float]]:
    """(misconception, score), best first; a misconception scores as its best known program. Empty when nothing is
    wrong.
    """
    if not any(result.verdict not in (*_NOT_RUN, Verdict.AC) for result in observed):
        return []
    run = [result.verdict not in _NOT_RUN for result in observed]
    return ranked(profiles, behaviours(cases, observed), cases, run)


def ranked(
    profiles: Iterable[Profile],
    theirs: Sequence[Behaviour],
    cases: Sequence[Case],
    run: Sequence[bool] | None = None,
) -> list[tuple[str, float]]:
    """Like ``rank``, for behaviours. ``run`` says which cases were run; None = all."""
    return best_first((p.misconception, similarity(theirs, p.behaviours, cases, run)) for p in profiles)


def best_first(scores: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    """The best score of each misconception, best first; ties by name."""
    best: dict[str, float] = {}
    for name, score in scores:
        best[name] = max(score, best.get(name, 0.0))
    return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))


def similarity(
    a: Sequence[Behaviour], b: Sequence[Behaviour], cases: Sequence[Case], run: Sequence[bool] | None = None
) -> float:
    """The weighted mean agreement over the cases that at least one of both fails; 0 when there is none. Symmetric."""
    total = weight = 0.0
    share_a_pass = any(a[i].passed and b[i].passed for i in range(len(cases)) if run is None or run[i])
    for index, case in enumerate(cases):
        if (run is not None and not run[index]) or (a[index].passed and b[index].passed):
            continue
        own_step = base_point(case) is not None and given_step(case) is None
        share = OWN_STEP_WEIGHT if own_step else 1.0
        if _chance(a[index], b[index]):
            share *= CHANCE_WEIGHT
        if share_a_pass or not (_blank(a[index]) and _blank(b[index])):
            total += share * agreement(a[index], b[index], case, own_step)
        weight += share
    return total / weight if weight else 0.0


def _blank(a: Behaviour) -> bool:
    """Whether it raised before it called the function. Any slip at the start of a program does that, so two of them
    are alike only when other cases show that both get past it.
    """
    return not a.passed and a.outcome != "returned" and a.trace <= NEVER_CALLED


def _chance(a: Behaviour, b: Behaviour) -> bool:
    """Whether one passes and the other fails only by a drift of rounding errors, which may or may not show in a
    case.
    """
    failed = b if a.passed else a
    return a.passed != b.passed and failed.mutated == "drift" and failed.size in ("ok", "near") and not failed.flags


def agreement(a: Behaviour, b: Behaviour, case: Case, own_step: bool) -> float:
    """How much two programs did the same in one case, 0 to 1. Symmetric; 1 with itself when it failed."""
    if a.passed != b.passed:
        return 0.0
    trace = overlap(a.trace, b.trace)
    if a.outcome != b.outcome:
        both_raised = a.outcome.endswith("Error") and b.outcome.endswith("Error")
        odd_points = any(name.startswith("point ") for name in a.trace & b.trace)
        return 0.85 * trace if both_raised and odd_points else 0.0  # what f was handed tells more than what broke then
    if a.outcome != "returned":
        return 0.4 + 0.6 * trace
    if a.trace == b.trace == NEVER_CALLED and "none" not in (a.kind, b.kind):
        return 0.9  # whatever comes back, it cannot come from the function
    if own_step and ROUNDED_POINTS in a.trace & b.trace:
        return 0.95 * _form(a, b)  # what such points lead to is rounding noise
    value = OWN_STEP_VALUE if own_step else GIVEN_STEP_VALUE
    return _form(a, b) * (value * _values(a, b, case, own_step) + (1.0 - value) * trace)


def overlap(a: frozenset[str], b: frozenset[str]) -> float:
    """Shared members over all members; 1 for two empty sets."""
    return len(a & b) / len(a | b) if a or b else 1.0


def _form(a: Behaviour, b: Behaviour) -> float:
    """Kind, shape, dtype and what happened to the caller's arguments."""
    factor = 1.0
    if a.kind != b.kind:
        factor *= 0.3
    if a.shape != b.shape:
        factor *= 0.3
    if a.dtype != b.dtype:
        factor *= 0.5
    if a.mutated != b.mutated:
        factor *= 0.5
    return factor


def _values(a: Behaviour, b: Behaviour, case: Case, own_step: bool) -> float:
    if a.value is None or b.value is None:
        return 1.0 if a.value is b.value else 0.0
    flags = overlap(a.flags, b.flags)
    if a.size != b.size:
        return 0.5 * flags if own_step and "none" not in (a.size, b.size) else 0.0
    if a.size in ("near", "ok"):
        return flags
    if a.value.shape != b.value.shape:
        return 0.0
    return flags * _close(a.value, b.value, case, SAME_VALUE_OWN_STEP if own_step else SAME_VALUE)


def _close(a: Array, b: Array, case: Case, tolerance: float) -> float:
    """1 when all entries are the same, less than a half when only some are."""
    with np.errstate(all="ignore"):
        scale = largest(np.asarray(case.expected, dtype=np.float64)) or 1.0
        same = (np.abs(a - b) <= tolerance * np.maximum(scale, np.maximum(np.abs(a), np.abs(b)))) | (
            np.isnan(a) & np.isnan(b)
        )
    share = float(np.mean(same)) if same.size else 1.0
    return 1.0 if share == 1.0 else 0.4 * share**2
