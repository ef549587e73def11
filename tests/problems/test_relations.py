"""Relation facts: found when they hold, silent when they do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems.judge import checker, relations
from problems.judge.cases import Case, wire_arguments
from problems.judge.jail import wire
from problems.judge.sandbox import Limits
from problems.judge.verdicts import CaseResult, Observation
from tests.problems.programs import judged, programs

Change = Callable[[Any], Any]
SHAPES = [(3,), (2, 3), (4, 2), (5,), (2, 2, 2)]


def cases_of(seed: int, shapes: list[tuple[int, ...]]) -> list[Case]:
    """Cases without a function: the argument is an array, the answer random numbers of both signs."""
    rng = np.random.default_rng(seed)
    return [
        Case(f"case {i}", "secret", (rng.normal(size=shape),), np.round(rng.normal(size=shape) * 10, 3) + 0.0005)
        for i, shape in enumerate(shapes)
    ]


def results_of(cases: list[Case], change: Change) -> list[CaseResult]:
    """What a program would get that returns ``change(right answer)``."""
    results = []
    for case in cases:
        value = wire.describe(change(case.expected))
        seen = Observation("returned", value=value, after=wire_arguments(case))
        results.append(checker.check(case, seen, Limits()))
    return results


def found(seed: int, change: Change, shapes: list[tuple[int, ...]] = SHAPES) -> set[str]:
    cases = cases_of(seed, shapes)
    return {fact.id for fact in relations.facts(cases, results_of(cases, change))}


CHANGES: dict[str, Change] = {
    "factor-2": lambda e: 2 * e,
    "factor-half": lambda e: e / 2,
    "negated": lambda e: -e,
    "factor-n": lambda e: e * e.size,
    "factor-1/n": lambda e: e / e.size,
    "factor": lambda e: 1.7 * e,
    "zeros": np.zeros_like,
    "absolute": np.abs,
    "transposed": lambda e: e.T,
    "reversed": lambda e: e.reshape(-1)[::-1].reshape(e.shape),
    "shifted": lambda e: np.roll(e, 1),
    "shifted-back": lambda e: np.roll(e, -1),
    "cumulated": lambda e: np.cumsum(e).reshape(e.shape),
    "summed": lambda e: float(np.sum(e)),
    "averaged": lambda e: float(np.mean(e)),
    "columns-summed": lambda e: e.sum(axis=0),
    "rows-summed": lambda e: e.sum(axis=-1),
    "columns-averaged": lambda e: e.mean(axis=0),
    "rows-averaged": lambda e: e.mean(axis=-1),
    "normalised": lambda e: e / np.linalg.norm(e),
    "divided-by-largest": lambda e: e / np.max(np.abs(e)),
    "divided-by-sum": lambda e: e / np.sum(e),
    "truncated": np.trunc,
    "rounded-0": np.round,
    "rounded-2": lambda e: np.round(e, 2),
    "float32": lambda e: e.astype(np.float32).astype(np.float64),
    "first-missing": lambda e: np.where(np.arange(e.size).reshape(e.shape) == 0, 0.0, e),
    "last-missing": lambda e: np.where(np.arange(e.size).reshape(e.shape) == e.size - 1, 0.0, e),
    "only-first": lambda e: np.where(np.arange(e.size).reshape(e.shape) == 0, e, 0.0),
    "all-equal": lambda e: np.full(e.shape, 7.25),
}  # fmt: skip
MATRICES = {"transposed", "columns-summed", "rows-summed", "columns-averaged", "rows-averaged"}


@pytest.mark.parametrize("name", CHANGES)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_relation_that_holds_is_found(name: str, seed: int) -> None:
    shapes = [(2, 3), (4, 2), (3, 3)] if name in MATRICES else SHAPES
    assert name in found(seed, CHANGES[name], shapes)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_noise_has_no_relation(seed: int) -> None:
    rng = np.random.default_rng([seed, 1])
    assert found(seed, lambda e: e + rng.normal(size=e.shape)) == set()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_right_answers_have_no_facts(seed: int) -> None:
    assert found(seed, lambda e: e) == set()


def test_one_exception_is_enough_to_say_nothing() -> None:
    changes = iter([2.0, 2.0, 2.0, 2.0, 2.1])
    assert not any(name.startswith("factor") for name in found(0, lambda e: e * next(changes)))


def test_flattened_and_nan() -> None:
    cases = cases_of(0, [(2, 3), (4, 2)])
    assert relations.facts(cases, results_of(cases, np.ravel))[0].id == "flattened"
    hole = np.array([1.5, np.nan, 2.5])
    cases = [Case("hole", "secret", (np.ones(3),), hole), *cases_of(1, [(3,)])]
    ids = {fact.id for fact in relations.facts(cases, results_of(cases, np.nan_to_num))}
    assert ids == {"nan-replaced", "when-a-nan"}


NORMAL = """
import numpy as np
def numerical_gradient(f, x, h=1e-5):
    {before}
    p = np.array(x, dtype=float)
    g = np.zeros(p.shape)
    for i in np.ndindex(p.shape):
        e = np.zeros(p.shape)
        e[i] = h
        g[i] = (f(p + e) - f(p - e)) / (2 * h)
    return g
"""


@pytest.mark.parametrize(
    ("before", "fact"),
    [
        ("assert not isinstance(x, list)", "when-list"),
        ("assert np.ndim(x)", "when-number"),
        ("assert np.ndim(x) < 2", "when-matrix"),
        ("assert np.asarray(x).dtype != np.float32", "when-float32"),
        ("assert np.asarray(x).dtype == np.float64", "when-not-float64"),
        ("assert np.asarray(x).dtype.kind != 'i'", "when-integers"),
        ("assert not isinstance(x, np.ndarray) or x.flags.c_contiguous", "when-not-contiguous"),
        ("assert np.size(x) == 1", "when-several-entries"),
        ("assert 0 not in np.asarray(x)", "when-a-zero"),
        ("assert h == 1e-5", "when-given-step"),
        ("assert h != 1e-5", "when-own-step"),
    ],
)
def test_fails_exactly_when(before: str, fact: str) -> None:
    result = judged(NORMAL.format(before=before))
    said = relations.facts(programs().cases, result.cases)
    assert fact in {item.id for item in said}
    assert all(item.sentence.startswith("It fails exactly when") for item in said if item.id == fact)


def test_factors_of_the_step() -> None:
    for stem, fact in (("precedence_2h", "factor-h2"), ("missing_two", "factor-2"), ("sign_flipped*", "negated")):
        run = programs()
        assert relations.facts(run.cases, run.judgements[stem].cases)[0].id == fact


def test_changes_of_the_input() -> None:
    run = programs()
    for stem, fact in (("mutates_caller*", "input-changed"), ("restore_by_arithmetic*", "input-drifts")):
        assert fact in {item.id for item in relations.facts(run.cases, run.judgements[stem].cases)}


def test_sentences_hold_no_hidden_number() -> None:
    run = programs()
    numbers = {f"{value:.4g}" for case in run.cases for value in np.ravel(case.expected) if abs(value) > 20}
    for judgement in run.judgements.values():
        for fact in relations.facts(run.cases, judgement.cases):
            assert not any(number in fact.sentence for number in numbers)
