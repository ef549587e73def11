"""The known wrong programs of a package, run on the cases of a submission.

There is no cache on disk. A submission's cases come from its own random seed, so stored observations would never be
asked for again; running is cheap instead, because the programs are trusted and run in this process. And most of them
are dismissed after a few cases: ``identify`` first compares on a handful of failing cases and runs only the likeliest
to the end.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Final

import numpy as np

from problems.judge import matcher
from problems.judge.behaviour import behaviours
from problems.judge.cases import Case, wire_arguments
from problems.judge.judge import oracle_of
from problems.judge.matcher import KnownWrong, Profile
from problems.judge.package import Known, Package
from problems.judge.trusted import TrustedChild, TrustedSandbox
from problems.judge.verdicts import CaseResult, Observation, Verdict

PREFIX: Final = "misconception: "
PROBES: Final = 6
FINALISTS: Final = 6
SMALL: Final = 12


def misconception_of(known: Known) -> str:
    """The misconception that a submission of the package stands for, by its ``message:``; empty when it has none."""
    return known.message.removeprefix(PREFIX) if known.message.startswith(PREFIX) else ""


def wrong_programs(package: Package) -> list[Known]:
    """The programs of the package that stand for a misconception, known to the matcher."""
    return [known for known in package.submissions if misconception_of(known)]


def _run(child: TrustedChild, cases: Sequence[Case]) -> list[Observation]:
    """What a loaded program does in these cases."""
    return [child.run(wire_arguments(case), oracle_of(case)) for case in cases]


def _started(package: Package, known: Known) -> TrustedChild:
    child = TrustedSandbox().start(package.limits)
    loaded = child.load(package.entry, known.path.read_text("utf-8"))
    if not loaded.ok:
        raise ValueError(f"{known.path.name} of {package.name} cannot be loaded: {loaded.stage}")
    return child


def observe(package: Package, known: Known, cases: Sequence[Case]) -> KnownWrong:
    """A known program and what it does in all of these cases."""
    child = _started(package, known)
    try:
        return KnownWrong(known.path.stem, misconception_of(known), _run(child, cases))
    finally:
        child.close()


def profiles(package: Package, cases: Sequence[Case]) -> list[Profile]:
    """The behaviours of all known wrong programs in these cases."""
    return [matcher.profile(observe(package, known, cases), cases) for known in wrong_programs(package)]


def identify(
    package: Package, cases: Sequence[Case], results: Sequence[CaseResult], seconds: float = math.inf
) -> list[tuple[str, float]]:
    """(misconception, score) of the likeliest known programs, best first; see ``matcher.rank`` for the score.

    Empty when it is not done after ``seconds``: of a part of the programs the best may be a wrong name.
    """
    until = time.monotonic() + seconds
    not_run = (Verdict.SKIPPED, Verdict.JE)
    failing = [i for i, r in enumerate(results) if r.verdict not in (*not_run, Verdict.AC)]
    passing = [i for i, r in enumerate(results) if r.verdict is Verdict.AC]
    if not failing:
        return []
    small = {i for i, case in enumerate(cases) if np.size(case.expected) <= SMALL}  # these take few calls
    probes = sorted({
        *_spread([i for i in failing if i in small] or failing, PROBES),
        *_spread([i for i in passing if i in small] or passing, PROBES // 2),
    })  # fmt: skip
    probed = [cases[i] for i in probes]
    theirs = behaviours(probed, [results[i] for i in probes])
    scored = []
    for known in wrong_programs(package):
        if time.monotonic() > until:
            return []
        profile = matcher.profile(observe(package, known, probed), probed)
        scored.append((matcher.similarity(theirs, profile.behaviours, probed), known))
    scored.sort(key=lambda pair: -pair[0])
    finalists = []
    for score, known in scored[:FINALISTS]:
        if time.monotonic() > until:
            return []
        if score > 0.0:
            finalists.append(matcher.profile(observe(package, known, cases), cases))
    return matcher.rank(finalists, results, cases)


def _spread(indices: Sequence[int], count: int) -> list[int]:
    """At most ``count`` of the indices, evenly over all of them."""
    if len(indices) <= count:
        return list(indices)
    return [indices[round(k * (len(indices) - 1) / (count - 1))] for k in range(count)]
