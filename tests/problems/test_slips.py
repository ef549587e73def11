"""An ordinary slip in an otherwise right program is told as what it is: no misconception is named or hinted at."""

from __future__ import annotations

import pytest

from problems.judge import known, matcher
from problems.judge.diagnosis import diagnose
from tests.problems.programs import judged, programs

SLIPS = {
    "NameError": "missing(x)",
    "AttributeError": "x.nothing",
    "TypeError": "len(3)",
    "IndexError": "[1, 2][5]",
    "KeyError": "{}['h']",
    "ValueError": "int('a number')",
    "ZeroDivisionError": "1 / 0",
    "RecursionError": "again = lambda: again(); again()",
    "UnboundLocalError": "late += 1; late = 0",
    "ModuleNotFoundError": "import nosuchmodule",
    "ImportError": "from numpy import nosuchname",
    "AssertionError": "assert h is None",
    "OverflowError": "10.0 ** 1000",
    "RuntimeError": "raise RuntimeError('cannot start new thread')",
    "NotImplementedError": "raise NotImplementedError",
    "StopIteration": "next(iter(()))",
    "LinAlgError": "np.linalg.inv(np.zeros((2, 2)))",
    "PermissionError": "raise PermissionError(13, 'Permission denied')",
}
PROGRAM = """
import numpy as np
def numerical_gradient(f, x, h=1e-7):
    again = None
    {start}
    p = np.array(x, dtype=float)
    g = np.zeros(p.shape)
    for i in np.ndindex(p.shape):
        old = p[i]
        {inside}
        p[i] = old + h
        up = f(p)
        {between}
        p[i] = old - h
        down = f(p)
        {after}
        p[i] = old
        g[i] = (up - down) / (2 * h)
    {end}
    return g
"""
PLACES = ("start", "inside", "between", "after", "end")
FILLED = dict.fromkeys(PLACES, "pass")


def test_without_a_slip_the_program_is_right() -> None:
    assert judged(PROGRAM.format(**FILLED)).verdict == "AC"


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", SLIPS)
def test_a_slip_is_no_misconception(kind: str, place: str) -> None:
    slip = SLIPS[kind]
    source = PROGRAM.format(**FILLED | {place: slip})
    line = next(number for number, text in enumerate(source.split("\n"), 1) if slip in text)
    judgement = judged(source)
    assert judgement.verdict == "RE"
    ranking = known.identify(programs().package, programs().cases, judgement.cases)
    assert not ranking or ranking[0][1] < matcher.LIKELY, ranking[:2]
    assert judgement.message.startswith(f"{kind} in line {line}"), judgement.message
    if place == "inside":  # the same message for all: diagnosing each of them would only cost time
        told = diagnose(programs().package, programs().cases, judgement)
        assert (told.kind, told.match, told.message) == ("exception", None, judgement.message)


@pytest.mark.parametrize("call", ["f(p, h)", "f(p, h=h)", "f(p, h, 1)"])
def test_h_is_handed_to_f_only_when_it_is(call: str) -> None:
    told = diagnose(programs().package, programs().cases, judged(PROGRAM.format(**FILLED | {"inside": call})))
    assert told.match is not None
    assert (told.match.misconception, told.match.named) == ("h-passed-to-f", True)


@pytest.mark.parametrize("slip", ["f()", "np.sqrt(p, h, 1, 2)", "raise TypeError('f() takes 1 argument')"])
def test_other_wrong_calls_are_not_that(slip: str) -> None:
    told = diagnose(programs().package, programs().cases, judged(PROGRAM.format(**FILLED | {"inside": slip})))
    assert (told.kind, told.match) == ("exception", None)


def test_an_unfinished_program_has_no_advice_about_h() -> None:
    source = "import numpy as np\ndef numerical_gradient(f, x, h=1e-7):\n    return np.zeros(x.shape)\n"
    told = diagnose(programs().package, programs().cases, judged(source))
    assert told.match is not None
    assert (told.match.misconception, told.match.named) == ("sample-answers", False)  # it never calls f


def test_advice_that_takes_too_long_is_left_out() -> None:
    judgement = judged(PROGRAM.format(**FILLED | {"end": "return -g"}))
    run = programs()
    assert known.identify(run.package, run.cases, judgement.cases, seconds=-1.0) == []
    late = diagnose(run.package, run.cases, judgement, seconds=-1.0)
    assert (late.kind, late.match) == ("relation", None)
    assert diagnose(run.package, run.cases, judgement).kind == "misconception"
