"""One message at a time, in the order that helps, and nothing hidden in it."""

from __future__ import annotations

import numpy as np
import pytest

from problems.judge.diagnosis import Diagnosis, diagnose
from tests.problems.programs import judged, programs

PROGRAM = """
import numpy as np
def numerical_gradient(f, x, h=1e-5):
    p = np.array(x, dtype=float)
    g = np.zeros(p.shape)
    for i in np.ndindex(p.shape):
        e = np.zeros(p.shape)
        e[i] = h
        g[i] = (f(p + e) - f(p - e)) / (2 * h)
    {end}
"""


def told(source: str) -> Diagnosis:
    return diagnose(programs().package, programs().cases, judged(source))


@pytest.mark.parametrize(
    ("source", "kind", "said"),
    [
        (PROGRAM.format(end="return g"), "accepted", "right"),
        ("def numerical_gradient(f, x\n", "syntax", "SyntaxError in line 1"),
        ("def gradient(f, x, h=1): pass\n", "contract", "no function named numerical_gradient"),
        ("import nosuchmodule\n", "contract", "ModuleNotFoundError in line 1"),
        ("def numerical_gradient(f, x, h=1):\n    while True: pass\n", "contract", "did not finish"),
        ("def numerical_gradient(f, x, h=1):\n    return undefined\n", "exception", "NameError in line 2"),
        (PROGRAM.format(end="return 'g'"), "form", "a string"),
        (PROGRAM.format(end="return np.stack([g, g])"), "form", "shape"),
        (PROGRAM.format(end="return -g"), "misconception", "fall"),
        (PROGRAM.format(end="return 3 * g"), "relation", "times 3"),
        (PROGRAM.format(end="return np.tanh(g)"), "numbers", "not close enough"),
    ],
)  # fmt: skip
def test_the_kind_of_message(source: str, kind: str, said: str) -> None:
    diagnosis = told(source)
    assert (diagnosis.kind, said in diagnosis.message) == (kind, True), diagnosis


def test_a_named_misconception_explains_an_exception_and_a_wrong_shape() -> None:
    run = programs()
    for stem, kind in (("complex_step*", "exception"), ("flat_shape*", "form"), ("no_scalar_support*", "exception")):
        judgement = run.judgements[stem]
        diagnosis = diagnose(run.package, run.cases, judgement)
        assert diagnosis.kind == kind
        assert diagnosis.match is not None
        assert diagnosis.message.startswith(judgement.message.rstrip("."))
        assert run.package.misconceptions[diagnosis.match.misconception]["sentence"] in diagnosis.message


def test_the_evidence_speaks_of_a_sample() -> None:
    run = programs()
    diagnosis = diagnose(run.package, run.cases, run.judgements["forward_difference*"])
    assert diagnosis.evidence == "With x = 1.5 and h = 0.5 you called f at 2 and 1.5; no point lies below x."
    assert diagnosis.message == f"{diagnosis.evidence} {run.package.misconceptions['forward-difference']['sentence']}"
    assert 1 <= diagnosis.hint <= len(run.package.hints)
    assert diagnosis.link.startswith("gradients-checked-numerically#")


def test_nothing_hidden_is_told() -> None:
    run = programs()
    hidden = {
        f"{value:.6g}"
        for case in run.cases
        if case.group != "sample"
        for part in (case.expected, case.arguments[1])
        for value in np.ravel(np.asarray(part, dtype=float))
        if len(f"{value:.6g}") > 4 and np.isfinite(value)
    }
    assert len(hidden) > 200
    for stem in list(run.judgements)[::8]:
        diagnosis = diagnose(run.package, run.cases, run.judgements[stem])
        told = " ".join([diagnosis.message, diagnosis.evidence, *(fact.sentence for fact in diagnosis.facts)])
        assert not [number for number in hidden if number in told], (stem, told)
        assert "{" not in told
