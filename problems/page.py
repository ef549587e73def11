"""What the templates of a problem need, gathered in one place."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.safestring import mark_safe

from pixelbank.learners.selectors import current_learner
from problems import selectors
from problems.models import Problem, Submission


def result_context(submission: Submission) -> dict[str, Any]:
    """A submission's result: the cases that may be shown in full, and all of them in short."""
    cases = list(submission.cases.all())
    waiting = not submission.is_finished
    return {
        "result": submission,
        "waiting": waiting,
        "cases": cases,
        "shown_cases": [case for case in cases if case.is_shown],
        "hidden_count": sum(not case.is_shown for case in cases),
        "paused": selectors.judge_problem() if waiting else None,
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
        "editorial_after": max(0, problem.attempts_before_editorial - len(judged)),
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
