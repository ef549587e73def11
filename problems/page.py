"""What the templates of a problem need, gathered in one place."""

from __future__ import annotations

import json
import re
from typing import Any

from django.http import HttpRequest
from django.utils.safestring import mark_safe

from pixelbank.core.scene import to_svg
from pixelbank.learners.selectors import current_learner
from problems import drawing, selectors, versions
from problems.models import CaseResult, Problem, Submission

AT_LINE = re.compile(r"\w+ in line (\d+)(?:, column (\d+))?")
PICTURES = {
    "curve": "The curve of f with the two points of the formula, the points where you called f, and both slopes.",
    "strip": "How far each entry of x was moved when f was called, by the formula and by you.",
}


def result_context(submission: Submission) -> dict[str, Any]:
    """A submission's result: the cases that may be shown in full, and all of them in short."""
    cases = list(submission.cases.all())
    waiting = not submission.is_finished
    shown = [case for case in cases if case.is_shown]
    evidence = _evidence(submission, shown)
    return {
        "result": submission,
        "waiting": waiting,
        "cases": cases,
        "evidence": evidence,
        "quoted": quoted(submission),
        "shown_cases": [case for case in shown if not evidence or case != evidence["case"]],
        "hidden_count": sum(not case.is_shown for case in cases),
        "bonus": submission.bonus,
        "star": bool(submission.bonus) and all(case["passed"] for case in submission.bonus),
        "paused": selectors.judge_problem() if waiting else None,
    }


def _evidence(submission: Submission, shown: list[CaseResult]) -> dict[str, Any]:
    """The case that shows the fault, ready to be written: picture, words and table. Empty when there is none."""
    seen: dict[str, Any] = submission.evidence
    if not seen:
        return {}
    data = seen["drawing"]
    said = "" if data or seen["said"].rstrip(".") in submission.message else seen["said"]
    made = {**seen, "said": said, "case": next((case for case in shown if case.name == seen["name"]), None)}
    if data:
        made |= {
            "json": json.dumps(data, ensure_ascii=False, separators=(",", ":")),
            # to_svg escapes every text
            "svg": mark_safe(to_svg(drawing.scene(data), PICTURES[data["kind"]])),  # noqa: S308
            "sentence": drawing.sentence(data),
            "table": drawing.table(data),
        }
    return made


def quoted(submission: Submission) -> dict[str, Any] | None:
    """The line of the source that the message is about, with its neighbours; None when it is about none.

    ``parts``: what is before, at and after the place in that line, when a column is known; ``caret`` is as wide as what
    is before it.
    """
    found = AT_LINE.match(submission.message)
    if not found:
        return None
    lines, number = submission.source.splitlines(), int(found[1])
    if not 1 <= number <= len(lines):
        return None
    column = int(found[2] or 0)
    rows = [(n, lines[n - 1]) for n in range(max(1, number - 1), min(len(lines), number + 1) + 1)]
    text, at = lines[number - 1], max(0, column - 1)
    return {
        "line": number,
        "rows": rows,
        "parts": (text[:at], text[at : at + 1] or "\N{NO-BREAK SPACE}", text[at + 1 :]) if column else None,
        "caret": re.sub(r"[^\t]", " ", text[:at]) if column else None,
    }


def submission_context(submission: Submission, against: str | None) -> dict[str, Any]:
    """A submission's own page: its source, its result, and what changed since another version of the learner's."""
    judged = Submission.objects.filter(
        learner_id=submission.learner_id,
        problem_id=submission.problem_id,
        kind=Submission.Kind.SUBMIT,
        state=Submission.State.DONE,
    ).exclude(pk=submission.pk)
    others = list(judged.exclude(verdict="JE")[: selectors.HISTORY])
    earlier = [
        row
        for row in others
        if row.created_at < submission.created_at and row.source_sha256 != submission.source_sha256
    ]
    chosen = next((row for row in others if str(row.public_id) == against), earlier[0] if earlier else None)
    rows = versions.changes(chosen.source, submission.source) if chosen else []
    return {
        "submission": submission,
        "others": others,
        "against": chosen,
        "changes": rows,
        "changes_said": versions.counted(rows) if chosen else "",
        **result_context(submission),
    }


def problem_context(request: HttpRequest, problem: Problem, shown: Submission | None) -> dict[str, Any]:
    """Everything on a problem's page. Without a submission to show, the editor has the learner's last source."""
    learner = current_learner(request)
    last = shown or selectors.latest(learner, problem)
    own = (shown.custom if shown else None) or {}
    past = selectors.history(learner, problem)
    judged = [row for row in past if row.verdict and row.verdict != "JE"]
    return {
        "problem": problem,
        # written by the authors of the packages and rendered by core.markdown, which allows no raw HTML
        "statement": mark_safe(problem.statement),  # noqa: S308
        "hints": [mark_safe(hint) for hint in problem.hints],  # noqa: S308
        "editorial": mark_safe(problem.editorial),  # noqa: S308
        "editorial_open": len(judged) >= problem.attempts_before_editorial or any(r.verdict == "AC" for r in judged),
        "starred": any(row.bonus and all(case["passed"] for case in row.bonus) for row in judged),
        "source": last.source if last else problem.starter,
        "is_starter": last is None,
        "fields": [
            {"name": name, "label": label, "example": example, "value": own.get(name, "")}
            for name, label, example in problem.custom_fields
        ],
        "own_open": bool(own),
        "history": past,
        "solved": any(row.verdict == "AC" for row in past),
        "paused_site": selectors.judge_problem(),
        **(result_context(shown) if shown else {}),
    }
