"""What a learner may see of a judged submission beyond its cases: one open case that shows the fault, and the bonus.

Hidden cases stay hidden. When every sample passes, the feedback cases of the properties that failed are run, until one
of them fails, too. All of this happens after the verdict, which stands without it.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Final

from problems.judge.cases import Case
from problems.judge.evidence import choose, evidence
from problems.judge.judge import Judge
from problems.judge.package import Package
from problems.judge.verdicts import Judgement, Verdict

log = logging.getLogger(__name__)
TRIED: Final = 4  # feedback cases that are run at most
STREAM: Final = 16  # so many different feedback seeds are in use
EXPLAINED: Final = (Verdict.WA, Verdict.RE)


def evidence_of(
    judge: Judge, package: Package, source: str, seed: int, cases: Sequence[Case], judgement: Judgement
) -> dict[str, Any]:
    """The failing open case that shows most; empty when there is none. A mistake of ours costs the evidence only."""
    if judgement.verdict not in EXPLAINED or not judgement.cases:
        return {}
    try:
        found = choose(cases, judgement.cases) or _feedback(judge, package, source, seed, judgement)
        return evidence(*found) if found else {}
    except Exception:
        log.exception("No evidence for a submission to %s", package.name)
        return {}


def _feedback(judge: Judge, package: Package, source: str, seed: int, judgement: Judgement) -> Any:
    failing = [case.name for case in judgement.cases if case.verdict in EXPLAINED]
    by_name = {case.name: case for case in package.feedback(seed % STREAM)}
    tried = [by_name[name] for name in failing if name in by_name][:TRIED]
    if not tried:
        return None
    results = judge.judge(package, source, tried).cases
    return next(((c, r) for c, r in zip(tried, results, strict=False) if r.verdict in EXPLAINED), None)


def bonus_of(judge: Judge, package: Package, source: str, judgement: Judgement) -> list[dict[str, Any]]:
    """What a right program makes of the bonus cases: [{note, passed, said}]; empty for any other program."""
    cases = package.bonus()
    if judgement.verdict is not Verdict.AC or not cases:
        return []
    results = judge.judge(package, source, cases).cases
    return [{"note": r.note, "passed": r.verdict is Verdict.AC, "said": r.message} for r in results]
