"""Attacks on the judge's own machinery: each fails, leaves nothing behind, and the next submission is judged as ever.

Each file of ``attacks/`` says which verdicts are right for it; it prints TRIED when it got to work, BREACH where it got
through. The corpus of hostile submissions beside this checkout has a test of its own, ``test_corpus``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import pytest

from problems.judge.judge import Judge
from problems.judge.package import Package
from problems.judge.sandbox import Sandbox
from problems.judge.warm import KINDS, SPARE, WarmSandbox
from tests.conftest import wait_until

GOOD = """
import numpy as np

def numerical_gradient(f, x, h=1e-7):
    if np.ndim(x) == 0:
        x = np.float64(x)
        return (f(x + h) - f(x - h)) / (2 * h)
    x = np.array(x, dtype=np.float64)
    grad = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = h
        grad[i] = (f(x + step) - f(x - step)) / (2 * h)
    return grad
"""


@dataclass(frozen=True)
class Attack:
    """A hostile file and the verdicts that are right for it."""

    path: Path
    accept: frozenset[str]

    def __str__(self) -> str:
        return self.path.stem


def _own(path: Path) -> Attack:
    accept = re.search(r"^# accept: (.+)$", path.read_text(), re.M)
    assert accept is not None, f"{path.name} does not say which verdicts are right"
    return Attack(path, frozenset(accept[1].split()))


ATTACKS = sorted(map(_own, (Path(__file__).parent / "attacks").glob("*.py")), key=str)


def jailed(sandbox: Sandbox) -> set[int]:
    """Processes that the sandbox's waiting interpreters have forked."""
    found: set[int] = set()
    for outer in sandbox.pids().values() if isinstance(sandbox, WarmSandbox) else ():
        for interpreter in psutil.Process(outer).children():
            found |= {child.pid for child in interpreter.children(recursive=True)}
    return found


@pytest.mark.timeout(60)
@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_it_fails(attack: Attack, judge: Judge, package: Package) -> None:
    seconds = 0.6 if "TLE" in attack.accept else 2.0  # an endless program need not be watched for long
    package = replace(package, limits=replace(package.limits, case_seconds=seconds))
    cases = package.cases(7)[:4]
    result = judge.judge(package, attack.path.read_bytes(), cases)
    assert result.verdict in attack.accept, f"{result.verdict}: {result.message}"
    after = judge.judge(package, GOOD, cases)
    assert after.verdict == "AC", f"the next submission: {after.verdict} {after.message}"
    printed = result.output + "".join(case.observation.output for case in result.cases if case.observation)
    assert "TRIED" in printed
    assert "BREACH" not in printed
    # empty children wait for the next submissions; nothing else may be there
    wait_until(lambda: len(jailed(judge.sandbox)) <= KINDS * SPARE, 10, f"{attack} left a process")
