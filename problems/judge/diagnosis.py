"""One message for a judged submission: the first thing that helps, never two at a time.

Order: what keeps the program from running at all (name, import, time, memory), a syntax error, an exception at the
learner's line, the kind or shape of the answer, a misconception, a relation of the numbers, the plain verdict. An
exception or a wrong shape stays the message even when a misconception is named; the tutor's sentence then follows it,
because it explains it.
"""

from __future__ import annotations

import math
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from problems.judge import known, matcher, record, relations
from problems.judge.behaviour import given_step, numbers
from problems.judge.cases import Case
from problems.judge.matcher import Match
from problems.judge.package import Package
from problems.judge.relations import Fact
from problems.judge.verdicts import CaseResult, Judgement, Reason, Verdict

_FORM: Final = (Reason.KIND, Reason.SHAPE, Reason.DTYPE)
_POINTS: Final = 4


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What to tell a learner.

    ``kind``: accepted, judge, contract, syntax, exception, form, misconception, likely, relation, numbers.
    ``message`` is the whole text. ``match`` is set only for a name that may be given; ``evidence``, ``hint`` (step of
    the ladder, 0 = none) and ``link`` (slug#heading in the chapter) belong to it. ``facts`` are all relations that
    hold, for a page that shows more.
    """

    kind: str
    message: str
    match: Match | None = None
    title: str = ""
    evidence: str = ""
    hint: int = 0
    link: str = ""
    facts: tuple[Fact, ...] = ()


def diagnose(package: Package, cases: Sequence[Case], judgement: Judgement, seconds: float = math.inf) -> Diagnosis:
    """The message for a judgement of a program on ``cases``. Runs known wrong programs of the package, in this
    process, for at most ``seconds``: without them the message has no name of a misconception.
    """
    if judgement.verdict is Verdict.AC:
        return Diagnosis("accepted", judgement.message)
    if judgement.verdict is Verdict.JE:
        return Diagnosis("judge", judgement.message)
    if not judgement.cases:
        return Diagnosis(_before_the_cases(judgement), judgement.message)
    if judgement.verdict in (Verdict.TLE, Verdict.MLE, Verdict.OLE, Verdict.CE):
        return Diagnosis("contract", judgement.message)
    match = matcher.decide(known.identify(package, cases, judgement.cases, seconds))
    facts = tuple(relations.facts(cases, judgement.cases))
    return _explain(package, cases, judgement, match, facts)


def _before_the_cases(judgement: Judgement) -> str:
    """Nothing ran: the file does not compile, or it breaks the contract."""
    broken = judgement.verdict is Verdict.CE and judgement.message.startswith(
        ("SyntaxError", "IndentationError", "TabError")
    )
    return "syntax" if broken else "contract"


def _explain(
    package: Package, cases: Sequence[Case], judgement: Judgement, match: Match | None, facts: tuple[Fact, ...]
) -> Diagnosis:
    texts = package.misconceptions.get(match.misconception, {}) if match else {}
    sentence = texts.get("sentence", "")
    evidence = _evidence(texts.get("evidence", ""), cases, judgement.cases)
    kind = "exception" if judgement.verdict is Verdict.RE else "form" if judgement.reason in _FORM else ""
    if match is not None and sentence and (match.named or not kind):
        if kind:
            message = f"{judgement.message.rstrip('.')}. {sentence}"
        elif match.named:
            kind, message = "misconception", " ".join(part for part in (evidence, sentence) if part)
        else:
            kind, message = "likely", f"Check whether this is the reason. {sentence}"
        step = texts.get("hint", "")
        hint = int(step) if step.isdigit() else 0
        return Diagnosis(kind, message, match, texts.get("title", ""), evidence, hint, texts.get("link", ""), facts)
    if kind:
        return Diagnosis(kind, judgement.message, match, facts=facts)
    if facts:
        return Diagnosis("relation", _told(facts), match, facts=facts)
    return Diagnosis("numbers", judgement.message, match)


def _told(facts: Sequence[Fact]) -> str:
    """The most telling relation, and when it fails, if that is known."""
    relation = next((fact for fact in facts if not fact.id.startswith("when-")), None)
    condition = next((fact for fact in facts if fact.id.startswith("when-")), None)
    return " ".join(fact.sentence for fact in (relation, condition) if fact is not None)


# --- evidence -----------------------------------------------------------------------------------------------------


def _evidence(template: str, cases: Sequence[Case], results: Sequence[CaseResult]) -> str:
    """The template, filled from the failing sample that shows most; empty when it asks for what no sample has."""
    wanted = {name for _, name, _, _ in string.Formatter().parse(template) if name}
    if not wanted:
        return template
    shown = [
        (case, result)
        for case, result in zip(cases, results, strict=True)
        if case.shown and result.verdict not in (Verdict.AC, Verdict.SKIPPED, Verdict.JE)
    ]
    # a coarse step given by the caller makes the points readable
    shown.sort(key=lambda pair: (given_step(pair[0]) is None, numbers_of(pair[0]) < 2))
    for case, result in shown:
        values = _values(case, result)
        if wanted <= values.keys():
            return template.format_map(values)
    return ""


def numbers_of(case: Case) -> int:
    """How many numbers the answer of a case has."""
    return int(np.size(case.expected))


def _values(case: Case, result: CaseResult) -> Mapping[str, str]:
    """What a template may ask for, of a sample."""
    values = {name: text for name, text in case.shown if name in ("x", "h", "answer")}
    values.setdefault("h", "your default")
    seen = result.observation
    if seen is None:
        return values
    values["calls"] = str(seen.call_count)
    if seen.value is not None:
        values["got"] = record.show(seen.value)
    points = list(dict.fromkeys(text for call in seen.calls if (text := _point(numbers(call.point))) is not None))
    if points:
        values["points"] = _listed(points)
    return values


def _point(point: Any) -> str | None:
    if point is None or point.size > 4:
        return None
    with np.printoptions(floatmode="unique"):
        return f"{float(point):.9g}" if point.shape == () else "[" + ", ".join(f"{v:.9g}" for v in point.flat) + "]"


def _listed(words: Sequence[str]) -> str:
    """A, B and C; at most a few."""
    kept = list(words[:_POINTS])
    if len(words) > _POINTS:
        return ", ".join(kept) + " and so on"
    return " and ".join([", ".join(kept[:-1]), kept[-1]] if len(kept) > 1 else kept)
