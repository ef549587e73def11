"""Running a catalogue program in this process shows exactly what the real sandbox shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from problems import packages
from problems.judge.cases import wire_arguments
from problems.judge.judge import Judge, oracle_of
from problems.judge.sandbox import Limits, Sandbox
from problems.judge.trusted import TrustedSandbox
from problems.judge.verify import observations, same_observation
from tests.problems.programs import NAME, SEED

FOLDER = packages.CATALOGUE / NAME
SHIPPED = sorted([*FOLDER.glob("submissions/*/*.py"), *FOLDER.glob("pixelbank/heldout/*.py")])
FINITE = [path for path in SHIPPED if path.parent.name != "time_limit_exceeded"]


@pytest.mark.parametrize("path", FINITE, ids=[f"{path.parent.name}-{path.stem}" for path in FINITE])
def test_the_same_as_in_the_sandbox(sandbox: Sandbox, path: Path) -> None:
    package = packages.get(NAME)
    cases = package.cases(SEED)
    source = path.read_text("utf-8")
    here = observations(TrustedSandbox(), package, source, cases)
    there = observations(sandbox, package, source, cases)
    assert [c.name for c, a, b in zip(cases, here, there, strict=True) if not same_observation(a, b)] == []


@pytest.mark.parametrize(
    "source",
    ["def numerical_gradient(f, x:\n", "1 / 0\n", "import nosuch\n", "numerical_gradient = 3\n", "\ndef g(): pass\n"],
)  # fmt: skip
def test_a_file_that_does_not_load_is_reported_the_same(sandbox: Sandbox, source: str) -> None:
    package = packages.get(NAME)
    cases = package.cases(SEED)[:1]
    one, two = (Judge(box).judge(package, source, cases) for box in (TrustedSandbox(), sandbox))
    assert (one.verdict, one.message, one.total) == (two.verdict, two.message, two.total)


def test_same_observation_sees_a_difference() -> None:
    package = packages.get(NAME)
    case = package.cases(SEED)[0]
    seen = []
    for body in ("return f(x)", "return -f(x)"):
        child = TrustedSandbox().start(Limits())
        assert child.load("g", f"def g(f, x, h=1): {body}").ok
        seen.append(child.run(wire_arguments(case), oracle_of(case)))
        child.close()
    assert same_observation(seen[0], seen[0])
    assert not same_observation(*seen)


def test_an_endless_program_is_ended_when_watched() -> None:
    package = packages.get(NAME)
    child = TrustedSandbox(watched=True).start(Limits(case_seconds=0.2))
    assert child.load("g", "def g(f, x, h=1):\n    while True: pass\n").ok
    case = package.cases(SEED)[0]
    assert child.run(wire_arguments(case), oracle_of(case)).status == "timeout"
    assert not child.alive
