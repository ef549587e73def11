"""Reads of the problems room."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from pixelbank.learners.models import Learner
from pixelbank.learners.registry import Entry, Figure, Overview
from pixelbank.learners.selectors import current_learner
from problems.judge.verdicts import Verdict
from problems.models import CaseResult, JudgeWorker, Problem, Submission
from problems.queue import BULK, INTERACTIVE
from problems.queue import ahead as ahead  # a read like the others here
from problems.queue import waiting as waiting_in

SEEN_WITHIN = timedelta(seconds=90)
HISTORY = 50


def published() -> QuerySet[Problem]:
    """The problems that visitors see, easiest first."""
    return Problem.objects.filter(is_published=True)


def problem_of_the_day() -> Problem | None:
    """One published problem, the same for everybody all day."""
    names = list(published().order_by("name").values_list("name", flat=True))
    if not names:
        return None
    return published().get(name=names[timezone.now().date().toordinal() % len(names)])


def solved(learner: Learner | None) -> set[str]:
    """Names of the problems that the learner has solved."""
    if learner is None:
        return set()
    rows = Submission.objects.filter(learner=learner, kind=Submission.Kind.SUBMIT, verdict=Verdict.AC)
    return set(rows.values_list("problem__name", flat=True))


def tried(learner: Learner | None) -> set[str]:
    """Names of the problems to which the learner has submitted something. A judge error is no attempt."""
    if learner is None:
        return set()
    rows = Submission.objects.filter(learner=learner, kind=Submission.Kind.SUBMIT)
    return set(rows.exclude(verdict=Verdict.JE).values_list("problem__name", flat=True))


def history(learner: Learner | None, problem: Problem) -> list[Submission]:
    """The learner's submissions for a problem, newest first."""
    if learner is None:
        return []
    rows = Submission.objects.filter(learner=learner, problem=problem, kind=Submission.Kind.SUBMIT)
    return list(rows.defer("source", "output")[:HISTORY])


def latest(learner: Learner | None, problem: Problem) -> Submission | None:
    """The learner's newest source for a problem, run or submitted."""
    if learner is None:
        return None
    return Submission.objects.filter(learner=learner, problem=problem).exclude(kind=Submission.Kind.REJUDGE).first()


def own_submission(request: HttpRequest, public_id: UUID) -> Submission | None:
    """The submission, if the asking visitor may see it: its learner, or staff."""
    rows = Submission.objects.select_related("problem").filter(public_id=public_id)
    if not (request.user.is_authenticated and request.user.is_staff):
        learner = current_learner(request)
        if learner is None:
            return None
        rows = rows.filter(learner=learner).exclude(kind=Submission.Kind.REJUDGE)
    return rows.first()


def judge_problem() -> str | None:
    """None while a judge is at work, else one sentence on why submissions wait. A worker that says so comes first."""
    judges = list(JudgeWorker.objects.filter(seen_at__gte=timezone.now() - SEEN_WITHIN))
    if any(judge.is_usable for judge in judges):
        return None
    if judges:
        return judges[0].sentence
    return "No judge is running; start the site with ./dev run, or a Celery worker for the queue judge."


# --- what the live stream and the pages say ---------------------------------------------------------------------


def case_data(case: CaseResult, total: int) -> dict[str, Any]:
    """One case as an event: nothing of a hidden input, and no right answer of one."""
    return {
        "index": case.index,
        "total": total,
        "name": case.name,
        "group": case.group,
        "note": case.note,
        "verdict": case.verdict,
        "text": case.verdict_text,
        "message": case.message,
        "ms": round(case.ms, 1),
    }


def verdict_data(submission: Submission) -> dict[str, Any]:
    """The verdict as an event, with the sentence that is announced."""
    return {
        "state": submission.state,
        "verdict": submission.verdict,
        "text": submission.verdict_text,
        "message": submission.message,
        "passed": submission.passed,
        "total": submission.total,
        "ms": round(submission.time_ms, 1),
        "version": submission.short_sha,
        "said": said(submission),
    }


def said(submission: Submission) -> str:
    """The one sentence that a screen reader hears."""
    if not submission.verdict:
        return ""
    count = f" {submission.passed} of {submission.total} cases are right." if submission.total else ""
    message = "" if submission.verdict == Verdict.AC else f" {submission.message}"
    return f"{submission.verdict_text}, version {submission.short_sha}.{count}{message}"


def may_follow(request: HttpRequest, public_id: UUID) -> bool:
    """Whether the visitor may follow the events of a submission: only their own."""
    return own_submission(request, public_id) is not None


def snapshot(public_id: UUID) -> dict[str, Any] | None:
    """The stored state of a submission for a fresh event stream."""
    submission = Submission.objects.select_related("problem").filter(public_id=public_id).first()
    if submission is None:
        return None
    cases = [case_data(case, submission.total) for case in submission.cases.all()]
    return {**verdict_data(submission), "ahead": ahead(submission), "cases": cases}


def is_finished(public_id: UUID) -> bool:
    """Whether nothing further will happen to a submission."""
    return Submission.objects.filter(public_id=public_id, state=Submission.State.DONE).exists()


# --- for other rooms ---------------------------------------------------------------------------------------------


def export(learner: Learner) -> list[dict[str, Any]]:
    """Everything that is kept of a learner's submissions, for their own export."""
    rows: Iterable[Submission] = learner.submissions.select_related("problem").exclude(kind=Submission.Kind.REJUDGE)  # type: ignore[attr-defined]
    return [
        {
            "problem": row.problem.name,
            "kind": row.kind,
            "created_at": row.created_at.isoformat(),
            "source": row.source,
            "own_input": row.custom,
            "state": row.state,
            "verdict": row.verdict,
            "message": row.message,
            "passed": row.passed,
            "total": row.total,
        }
        for row in rows
    ]


def overview(learner: Learner) -> Overview | None:
    """The problems' part of the learner's own page."""
    attempts = tried(learner)
    if not attempts:
        return None
    done = solved(learner)
    last = Submission.objects.select_related("problem").filter(learner=learner, kind=Submission.Kind.SUBMIT)[:3]
    return Overview(
        title="Problems",
        url="/problems/",
        figures=[Figure("Problems solved", len(done), of=published().count()), Figure("Problems tried", len(attempts))],
        entries=[Entry(row.problem.title, row.get_absolute_url(), row.verdict_text or "waiting") for row in last],
    )


def submissions_by_state() -> dict[str, int]:
    """How many submissions are in each state, for the metrics."""
    rows = Submission.objects.values("state").annotate(count=Count("pk")).order_by()
    return {row["state"]: row["count"] for row in rows}


def waiting_by_lane() -> dict[str, int]:
    """How many submissions wait, by queue, for the metrics."""
    return {lane: waiting_in(lane).count() for lane in (INTERACTIVE, BULK)}


def judge_errors() -> dict[str, int]:
    """How many submissions ended as a judge error within an hour, a day and ever, for the metrics."""
    rows, now = Submission.objects.filter(verdict=Verdict.JE), timezone.now()
    return {
        "hour": rows.filter(finished_at__gte=now - timedelta(hours=1)).count(),
        "day": rows.filter(finished_at__gte=now - timedelta(days=1)).count(),
        "ever": rows.count(),
    }
