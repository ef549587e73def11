"""Every program that ships with a package gets the verdict that its folder promises, in the real sandbox."""

from __future__ import annotations

import pytest

from problems import packages
from problems.judge.judge import Judge
from problems.judge.package import Known

SHIPPED = [(name, known) for name in packages.names() for known in packages.get(name).submissions]


@pytest.mark.parametrize(
    ("name", "known"), SHIPPED, ids=[f"{name}-{known.path.parent.name}-{known.path.stem}" for name, known in SHIPPED]
)
def test_the_folder_keeps_its_promise(judge: Judge, name: str, known: Known) -> None:
    package = packages.get(name)
    result = judge.judge(package, known.path.read_bytes(), package.cases(seed=11))
    assert result.verdict == known.verdict, f"{result.message} ({result.passed} of {result.total})"


@pytest.mark.parametrize("name", packages.names())
def test_accepted_programs_pass_on_many_seeds(judge: Judge, name: str) -> None:
    package = packages.get(name)
    sources = [known.path.read_bytes() for known in package.submissions if known.verdict == "AC"]
    for seed in range(100, 120):
        source = sources[seed % len(sources)]
        result = judge.judge(package, source, package.cases(seed))
        assert result.verdict == "AC", (seed, result.message, [c.name for c in result.cases if c.verdict != "AC"])


@pytest.mark.parametrize("name", packages.names())
def test_the_starter_runs_and_is_wrong(judge: Judge, name: str) -> None:
    package = packages.get(name)
    assert judge.judge(package, package.starter, package.cases(seed=1)).verdict == "WA"
