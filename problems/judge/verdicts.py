"""The words of a judgement: verdicts, reasons, and what was seen in each case."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from problems.judge.jail.wire import Value


class Verdict(StrEnum):
    """What a submission, or one case of it, is worth. JE is the judge's own fault and never a learner's."""

    AC = "AC"
    WA = "WA"
    RE = "RE"
    TLE = "TLE"
    MLE = "MLE"
    OLE = "OLE"
    CE = "CE"
    JE = "JE"
    SKIPPED = "--"  # a case that was not run because the budget of the submission was used up


class Reason(StrEnum):
    """Why an answer is wrong, in the order in which the checker looks."""

    KIND = "kind"
    SHAPE = "shape"
    DTYPE = "dtype"
    NAN = "nan"
    MUTATED = "mutated"
    CALLS = "calls"
    TOLERANCE = "tolerance"


@dataclass(frozen=True, slots=True)
class Call:
    """One evaluation of a remote function: the point as the learner passed it, and the answer (None: refused)."""

    point: Value
    answer: float | None


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception in the learner's code: type, message and line of their file (0 = outside of it)."""

    kind: str
    message: str
    line: int


@dataclass(slots=True)
class Observation:
    """What one case did, as seen from outside. The misconception matcher will compare these, never source text.

    ``status``: returned, raised, timeout, died, output, memory, malformed. ``ms`` is the judge's clock.
    ``misused`` counts calls of the remote function with more than a point; they are not in ``call_count``.
    """

    status: str
    ms: float = 0.0
    value: Value | None = None
    after: tuple[Value, ...] = ()
    calls: list[Call] = field(default_factory=list)
    call_count: int = 0
    misused: int = 0
    raised: Raised | None = None
    output: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """The verdict of one case, with one sentence for the learner and the observation behind it."""

    name: str
    group: str
    note: str
    verdict: Verdict
    reason: Reason | None
    message: str
    ms: float
    observation: Observation | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict of a submission: that of its first case that is not AC. ``ms`` is the sum over its cases."""

    verdict: Verdict
    reason: Reason | None
    message: str
    passed: int
    total: int
    ms: float
    cases: tuple[CaseResult, ...] = ()
    output: str = ""
