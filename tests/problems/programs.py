"""The wrong programs of Numerical Gradient, run once for a whole test session on a seed that no gate uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from problems import packages
from problems.judge import known
from problems.judge.behaviour import behaviours
from problems.judge.cases import Case
from problems.judge.judge import Judge
from problems.judge.matcher import Profile
from problems.judge.package import Package
from problems.judge.trusted import TrustedSandbox
from problems.judge.verdicts import Judgement

NAME = "numericalgradient"
SEED = 4711


@dataclass(frozen=True)
class Programs:
    """Profiles and judgements by file stem; held-out ones have a star."""

    package: Package
    cases: Sequence[Case]
    known: dict[str, Profile]
    heldout: dict[str, Profile]
    judgements: dict[str, Judgement]


@cache
def programs() -> Programs:
    package = packages.get(NAME)
    cases = package.cases(SEED)
    judge = Judge(TrustedSandbox())
    profiles: tuple[dict[str, Profile], dict[str, Profile]] = ({}, {})
    judgements = {}
    files = [(item.path, known.misconception_of(item), 0) for item in known.wrong_programs(package)]
    heldout = sorted((package.folder / "pixelbank" / "heldout").glob("*.py"))
    files += [(path, path.stem.split("__")[0].replace("_", "-"), 1) for path in heldout]
    for path, name, where in files:
        stem = path.stem + "*" * where
        judgements[stem] = judge.judge(package, path.read_bytes(), cases)
        profiles[where][stem] = Profile(stem, name, behaviours(cases, judgements[stem].cases))
    return Programs(package, cases, *profiles, judgements)


def judged(source: str) -> Judgement:
    """A test's own program on the same cases. The tests are trusted, so they may use this process."""
    run = programs()
    return Judge(TrustedSandbox(watched=True)).judge(run.package, source, run.cases)
