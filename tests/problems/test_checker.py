"""The checker: its order, its bounds, and that NaN never passes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from problems.judge import checker
from problems.judge.cases import Case, Refused, Remote, evaluate, wire_arguments
from problems.judge.jail.wire import describe
from problems.judge.sandbox import Limits
from problems.judge.verdicts import Observation, Raised, Reason, Verdict


def _case(expected: Any, x: Any = None, **fields: Any) -> Case:
    x = np.array([1.0, 2.0]) if x is None else x
    return Case(
        "c", fields.pop("group", "secret"), (Remote(np.sum), x), expected, **{"atol": 1e-6, "rtol": 0.0, **fields}
    )


def _check(case: Case, got: Any, *, after: Any = None, calls: int = 0) -> tuple[Verdict, Reason | None]:
    before = wire_arguments(case)
    seen = Observation("returned", 1.0, describe(got), before if after is None else (before[0], describe(after)))
    seen.call_count = calls
    result = checker.check(case, seen, Limits())
    return result.verdict, result.reason


VECTOR = np.array([3.0, 4.0])


@pytest.mark.parametrize("got", [np.array([3.0, 4.0]), np.array([3.0 + 9e-7, 4.0]), np.array([3.0, 4.0, 9.0])[:2]])
def test_a_right_array_is_accepted(got: Any) -> None:
    assert _check(_case(VECTOR), got) == (Verdict.AC, None)


@pytest.mark.parametrize(
    ("got", "reason"),
    [
        (None, Reason.KIND),
        ([3.0, 4.0], Reason.KIND),
        ((3.0, 4.0), Reason.KIND),
        ("3.0", Reason.KIND),
        (np.matrix([[3.0, 4.0]]), Reason.KIND),
        (np.ma.masked_array([3.0, 4.0], mask=[True, True]), Reason.KIND),
        (np.array([3.0, 4.0], dtype=object), Reason.KIND),
        (iter(()), Reason.KIND),
        (3.0, Reason.SHAPE),
        (np.array([[3.0, 4.0]]), Reason.SHAPE),
        (np.zeros(()), Reason.SHAPE),
        (np.broadcast_to(0.0, (1 << 20, 1 << 20)), Reason.SHAPE),
        (np.array([3, 4]), Reason.DTYPE),
        (np.array([3.0, 4.0], dtype=np.float32), Reason.DTYPE),
        (np.array([3.0, 4.0]) + 0j, Reason.DTYPE),
        (np.array([3.0, np.nan]), Reason.NAN),
        (np.array([np.inf, 4.0]), Reason.NAN),
        (np.array([3.0, 4.1]), Reason.TOLERANCE),
    ],
)
def test_the_first_thing_that_is_wrong_is_said(got: Any, reason: Reason) -> None:
    assert _check(_case(VECTOR), got) == (Verdict.WA, reason)


@pytest.mark.parametrize("got", [6.0, np.float64(6.0), np.array(6.0)])
def test_a_number_may_come_in_three_forms(got: Any) -> None:
    assert _check(_case(6.0, 3.0), got) == (Verdict.AC, None)


@pytest.mark.parametrize(
    ("got", "reason"),
    [
        (6, Reason.DTYPE),
        (np.array([6.0]), Reason.SHAPE),
        ([6.0], Reason.KIND),
        (True, Reason.DTYPE),
        (np.float32(6.0), Reason.DTYPE),
    ],
)
def test_and_in_no_other(got: Any, reason: Reason) -> None:
    assert _check(_case(6.0, 3.0), got) == (Verdict.WA, reason)


def test_an_expected_nan_must_be_there_and_only_there() -> None:
    case = _case(np.array([np.nan, 4.0]))
    assert _check(case, np.array([np.nan, 4.0])) == (Verdict.AC, None)
    assert _check(case, np.array([0.0, 4.0])) == (Verdict.WA, Reason.NAN)
    assert _check(case, np.array([np.nan, np.nan])) == (Verdict.WA, Reason.NAN)
    assert _check(case, np.array([np.nan, 5.0])) == (Verdict.WA, Reason.TOLERANCE)


def test_the_input_must_be_the_same_bit_for_bit() -> None:
    x = np.array([0.0, 2.0])
    case = _case(VECTOR, x)
    for after in (
        np.array([-0.0, 2.0]),
        np.array([0.0, np.nextafter(2.0, 3.0)]),
        np.array([0, 2]),
        np.array([[0.0, 2.0]]),
    ):
        assert _check(case, VECTOR, after=after) == (Verdict.WA, Reason.MUTATED)
    nested = _case(VECTOR, [[1.0], [2.0]])
    assert _check(nested, VECTOR, after=[[1.0], [2.0]]) == (Verdict.AC, None)
    assert _check(nested, VECTOR, after=[[1.0], [3.0]]) == (Verdict.WA, Reason.MUTATED)


def test_calls_are_bounded_inclusively() -> None:
    case = _case(VECTOR, max_calls=5)
    assert _check(case, VECTOR, calls=5) == (Verdict.AC, None)
    assert _check(case, VECTOR, calls=6) == (Verdict.WA, Reason.CALLS)


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        ("timeout", "TLE"),
        ("memory", "MLE"),
        ("output", "OLE"),
        ("malformed", "RE"),
        ("died", "RE"),
        ("unheard of", "RE"),
    ],
)
def test_a_child_that_did_not_come_back(status: str, verdict: str) -> None:
    result = checker.check(_case(VECTOR), Observation(status), Limits())
    assert result.verdict == verdict
    assert result.message.endswith(".")


def test_what_an_exception_says_stays_inside_for_hidden_cases() -> None:
    seen = Observation("raised", raised=Raised("ValueError", "x was [1.2, 3.4]", 7))
    hidden = checker.check(_case(VECTOR), seen, Limits())
    shown = checker.check(_case(VECTOR, group="sample"), seen, Limits())
    assert (hidden.verdict, hidden.message) == (Verdict.RE, "ValueError in line 7")
    assert shown.message == "ValueError in line 7: x was [1.2, 3.4]"


def test_running_out_of_memory_in_python_is_a_memory_verdict() -> None:
    seen = Observation("raised", raised=Raised("MemoryError", "", 3))
    assert checker.check(_case(VECTOR), seen, Limits()).verdict == Verdict.MLE


def test_no_sentence_about_a_hidden_case_holds_an_expected_number() -> None:
    case = _case(np.array([3.14159, 2.71828]))
    for got in (np.zeros(2), np.zeros(3), None, np.array([np.nan, 1.0]), [1.0]):
        seen = Observation("returned", value=describe(got), after=wire_arguments(case))
        message = checker.check(case, seen, Limits()).message
        assert "3.14" not in message
        assert "2.71" not in message


@pytest.mark.parametrize("point", [np.array([1 + 2j]), "text", None, [1.0, [2.0]], {"a": 1}])
def test_the_oracle_refuses_what_is_not_a_real_point(point: Any) -> None:
    with pytest.raises(Refused):
        evaluate(Remote(lambda x: np.sum(x)), describe(point))


def test_the_oracle_computes_in_float64_whatever_it_is_given() -> None:
    remote = Remote(lambda x: np.sum(x) / 3)
    for point in (np.array([1, 0]), np.array([1.0, 0.0], dtype=np.float32), [1, 0], True):
        assert evaluate(remote, describe(point)) == 1 / 3


def test_the_oracle_refuses_points_of_a_wrong_shape_without_an_error_of_its_own() -> None:
    remote = Remote(lambda x: x[1, 2] * 2.0)
    with pytest.raises(Refused) as caught:
        evaluate(remote, describe(np.zeros(6)))
    assert caught.value.kind == "IndexError"
    with pytest.raises(Refused):
        evaluate(Remote(lambda x: x * 2), describe(np.zeros(3)))  # not one number
