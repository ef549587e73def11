"""A behaviour can be made of anything that comes out of the sandbox, and says what happened."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems.judge import checker, relations
from problems.judge.behaviour import Behaviour, behaviour, form_of, is_rounded, mutation
from problems.judge.cases import Case, Remote, wire_arguments
from problems.judge.jail import wire
from problems.judge.jail.wire import Value
from problems.judge.sandbox import Limits
from problems.judge.verdicts import Call, Observation, Raised
from tests.problems.programs import programs

POINT = np.array([1.0, 2.0, 3.0])


def case(step: float | None = 0.5, point: Any = POINT) -> Case:
    arguments = (Remote(np.sum), point) if step is None else (Remote(np.sum), point, step)
    return Case("a case", "secret", arguments, np.ones(np.shape(point)), max_calls=2 * int(np.size(point)) + 1)


def seen(points: list[Any], value: Any = 0.0, step: float | None = 0.5, point: Any = POINT) -> Behaviour:
    """The behaviour of a program that called f at these points and returned this value."""
    example = case(step, point)
    calls = [Call(wire.describe(p), 1.0) for p in points]
    observation = Observation("returned", value=wire.describe(value), calls=calls, call_count=len(calls))
    observation.after = wire_arguments(example)
    return behaviour(example, checker.check(example, observation, Limits()))


def moved(*amounts: float) -> Any:
    return POINT + np.array(amounts)


@pytest.mark.parametrize(
    ("points", "classes"),
    [
        ([], {"never called"}),
        ([POINT], {"at x", "moves no entry"}),
        ([moved(0.5, 0, 0), moved(-0.5, 0, 0)], {"one entry +1 step", "one entry -1 step", "moves one entry only"}),
        ([moved(0.25, 0, 0)], {"one entry +0.5 step", "moves one entry only"}),
        ([moved(0.5, 0.5, 0.5)], {"all entries +1 step", "moves every entry"}),
        ([moved(0.5, -0.5, 0)], {"several entries by different amounts", "leaves out an edge entry"}),
        ([moved(0, 0.5, 0), moved(0, 0, 0.5)], {"one entry +1 step", "leaves out an edge entry"}),
        ([moved(1e-6, 0, 0)], {"one entry +far less than a step", "moves one entry only"}),
        ([[1.0, 2.0, 3.5]], {"point is list", "one entry +1 step", "moves one entry only"}),
        ([np.ones(6)], {"point has another size"}),
        ([moved(0.5, 0, 0).reshape(3, 1)], {"point reshaped", "one entry +1 step", "moves one entry only"}),
        ([moved(0.5, 0, 0).astype(complex)], {"point is complex", "one entry +1 step", "moves one entry only"}),
        ([np.array([2, 2, 3])], {"point is int", "one entry +2 step", "moves one entry only"}),
        ([object()], {"point is an object"}),
        ([moved(0.5, 0, 0)] * 8, {"too many calls", "one entry +1 step", "moves one entry only"}),
    ],
)
def test_classes_of_points(points: list[Any], classes: set[str]) -> None:
    assert seen(points).trace == classes


@pytest.mark.parametrize(("step", "said"), [(1e-12, "step tiny"), (1e-5, "step fine"), (0.01, "step large")])
def test_classes_of_own_steps(step: float, said: str) -> None:
    assert said in seen([moved(step, 0, 0), moved(-step, 0, 0)], step=None).trace


def test_order_and_repetition_do_not_show() -> None:
    points = [moved(0.5, 0, 0), moved(0, 0.5, 0), POINT]
    assert seen(points).trace == seen([*reversed(points), points[0]]).trace


@pytest.mark.parametrize(
    ("value", "flags"),
    [
        (np.zeros(3), {"zeros"}),
        (np.array([0.0, 1.0, 1.0]), {"some-zeros"}),
        (np.array([math.nan, 1.0, 1.0]), {"nan"}),
        (np.array([math.inf, 1.0, 1.0]), {"inf"}),
        (np.array([0.6, 0.8, 0.0]), {"some-zeros", "unit-length"}),
    ],
)
def test_flags(value: Any, flags: set[str]) -> None:
    assert seen([], value).flags == flags


def test_a_number_is_a_number() -> None:
    forms = {form_of(wire.describe(value)) for value in (2.0, np.float64(2.0), np.array(2.0))}
    assert forms == {("number", (), "float64")}


def test_rounded() -> None:
    assert is_rounded(np.array([0.123, -4.5, 0.0]), 3)
    assert not is_rounded(np.array([0.1234]), 3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda x: x, "no"),
        (lambda x: x * (1 + 4e-16), "drift"),
        (lambda x: x + 0.5, "yes"),
        (lambda x: [1.0], "yes"),
    ],
)
def test_mutation(change: Any, said: str) -> None:
    example = case()
    function, _, step = wire_arguments(example)
    after = (function, wire.describe(change(POINT.copy())), step)
    assert mutation(example, Observation("returned", value=wire.NONE, after=after)) == said


FLOATS = st.floats(width=64)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**30), 10**30), FLOATS, st.complex_numbers(), st.text(max_size=5)
)
ARRAYS = st.builds(
    lambda shape, code, fill: np.resize(np.array(fill, dtype=np.float64), shape).astype(code),
    st.sampled_from([(), (0,), (1,), (3,), (2, 3), (3, 1), (2, 0), (1, 1, 3)]),
    st.sampled_from(["<f8", "<f4", "<f2", "<i8", "|b1", "|u1", "<c16"]),
    st.lists(st.floats(-100, 100), min_size=1, max_size=4),
)
VALUES = st.one_of(
    st.recursive(st.one_of(SCALARS, ARRAYS), lambda inner: st.lists(inner, max_size=3), max_leaves=6).map(
        wire.describe
    ),
    st.sampled_from([Value("huge", shape=(10**6, 10**6), text="<f8"), Value("other", text="builtins.set")]),
)
RAISED = st.builds(Raised, st.sampled_from(["ValueError", "", "X" * 200]), st.text(max_size=5), st.integers(0, 9))


@settings(max_examples=300, deadline=None)
@given(
    index=st.integers(0, 27),
    status=st.sampled_from(["returned", "raised", "timeout", "died", "malformed"]),
    value=VALUES,
    calls=st.lists(st.builds(Call, VALUES, st.one_of(st.none(), FLOATS)), max_size=4),
    after=st.lists(VALUES, max_size=3),
    raised=RAISED,
)
def test_anything_from_the_sandbox_has_a_behaviour(
    index: int, status: str, value: Value, calls: list[Call], after: list[Value], raised: Raised
) -> None:
    example = programs().cases[index]
    observation = Observation(status, calls=calls, call_count=len(calls), after=tuple(after))
    if status == "returned":
        observation.value = value
    if status == "raised":
        observation.raised = raised
    result = checker.check(example, observation, Limits())
    made = behaviour(example, result)
    assert made.passed is (result.verdict == "AC")
    relations.facts([example], [result])
