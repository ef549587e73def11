"""Writes of the problems room: load the catalogue, take submissions, judge them exactly once."""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from structlog.contextvars import bound_contextvars, get_contextvars

from pixelbank.core import events, markdown, rows
from pixelbank.learners.models import Learner
from problems import judging, packages, queue, selectors, shown
from problems.judge import record
from problems.judge.diagnosis import Diagnosis, diagnose
from problems.judge.judge import Judge, readable
from problems.judge.package import Package, PackageError
from problems.judge.selftest import Report
from problems.judge.verdicts import CaseResult as Result
from problems.judge.verdicts import Judgement, Verdict
from problems.models import CaseResult, JudgeWorker, Problem, Submission
from problems.queue import LEASE, MAX_ATTEMPTS

log = logging.getLogger(__name__)

RESEND_AFTER = timedelta(seconds=30)
ADVICE_SECONDS = 2.0  # the verdict waits for the advice no longer than this
MAX_WAITING = 20  # submissions of one learner that wait at the same time
GIVEN_UP = "The judge failed on this submission three times. This is not your fault; please submit it again."
NOT_LOADED = "The package of this problem cannot be read at the moment. This is not your fault; please try again later."


class SubmissionRefused(Exception):
    """A submission is not taken. The message is one sentence for the learner."""


class FencedOff(Exception):
    """Another worker has the submission now: stop, and write nothing."""


# --- content -----------------------------------------------------------------------------------------------------


def load_content() -> str:
    """Bring the table of problems up to date with the catalogue; returns a one-line summary. Safe to repeat."""
    loaded, broken = 0, []
    names = packages.names()
    for name in names:
        try:
            _load(packages.get(name))
            loaded += 1
        except (PackageError, markdown.MarkdownError) as error:
            broken.append(str(error))
            log.error("The problem %s is not loaded: %s", name, error)
    Problem.objects.exclude(name__in=names).update(is_published=False)
    return f"{loaded} problem{'' if loaded == 1 else 's'}" + (f"; not loaded: {'; '.join(broken)}" if broken else "")


def _load(package: Package) -> None:
    samples = [[list(pair) for pair in case.shown] for case in package.samples()]
    limits = package.limits
    Problem.objects.update_or_create(
        name=package.name,
        defaults={
            "title": package.title,
            "summary": package.summary,
            "signature": package.signature,
            "difficulty": package.difficulty,
            "chapter": package.chapter,
            "keywords": list(package.keywords),
            "statement": markdown.render(package.statement),
            "editorial": markdown.render(package.editorial),
            "hints": [markdown.render(hint) for hint in package.hints],
            "samples": samples,
            "starter": package.starter,
            "custom_fields": [list(row) for row in package.custom_fields],
            "limits": {
                "seconds": limits.case_seconds,
                "memory_mib": limits.memory >> 20,
                "source_kib": limits.source >> 10,
            },
            "attempts_before_editorial": package.attempts_before_editorial,
            "digest": package.digest,
            "is_published": True,
        },
    )


# --- taking submissions ------------------------------------------------------------------------------------------


def submit(
    learner: Learner, problem: Problem, source: str, kind: str, custom: Mapping[str, str] | None = None
) -> Submission:
    """Store a submission and have a worker told about it on commit. Raises SubmissionRefused with one sentence."""
    from problems.tasks import judge as task  # tasks call services, so this way round only when it is needed

    source = source.replace("\r\n", "\n")
    given = {key: str(value) for key, value in (custom or {}).items()}
    try:
        package = packages.get(problem.name)
    except PackageError:
        raise SubmissionRefused(NOT_LOADED) from None
    if not source.strip():
        raise SubmissionRefused("There is no code to judge yet: write your function first.")
    _, fault = readable(source, package.limits)
    if fault:
        raise SubmissionRefused(fault)
    own_input = bool(kind == Submission.Kind.RUN and given.get("x", "").strip())
    if own_input:
        try:
            package.custom(given)
        except ValueError as error:
            raise SubmissionRefused(str(error)) from None
    own = Submission.objects.filter(learner=learner).exclude(kind=Submission.Kind.REJUDGE)
    if own.exclude(state=Submission.State.DONE).count() >= MAX_WAITING:
        raise SubmissionRefused(f"{MAX_WAITING} of your submissions are still waiting; let the judge catch up first.")
    with transaction.atomic():
        submission = Submission.objects.create(
            learner=learner,
            problem=problem,
            kind=kind,
            source=source,
            source_sha256=hashlib.sha256(source.encode()).hexdigest(),
            custom=given if own_input else None,
            seed=secrets.randbelow(1 << 31),
            request_id=str(get_contextvars().get("request_id", ""))[:40],
        )
        rows.enqueue_on_commit(submission, task, queue.INTERACTIVE)
    return submission


# --- judging -----------------------------------------------------------------------------------------------------


def perform(pk: int) -> None:
    """Judge the submission whose turn it is (see problems.queue): what the Celery task does with a message about `pk`.

    A second delivery of the same message finds nothing to do. Without a sandbox that passed its self-test no row is
    even claimed: it waits.
    """
    judge = judging.judge()
    if judge is None:
        log.warning("Submission %s waits: this judge has no usable sandbox", pk)
        return
    bulk = queue.is_bulk(pk)
    if held := queue.take(pk):
        _judge(judge, *held)
    if bulk:
        queue.send_bulk(1)


def _judge(judge: Judge, pk: int, token: int) -> None:
    submission = Submission.objects.select_related("problem").filter(pk=pk).first()
    if submission is None:
        return  # taken back, or its learner's data were deleted, since it was claimed
    with bound_contextvars(request_id=submission.request_id):
        _judge_held(judge, submission, token)


def _judge_held(judge: Judge, submission: Submission, token: int) -> None:
    pk = submission.pk
    events.publish("submission", submission.public_id, "state", {"state": Submission.State.RUNNING})
    try:
        package = packages.get(submission.problem.name)
    except PackageError as error:
        log.error("Submission %s cannot be judged: %s", submission.public_id, error)
        _finish(submission, token, Judgement(Verdict.JE, None, NOT_LOADED, 0, 0, 0.0), "")
        return

    def on_case(index: int, total: int, result: Result) -> None:
        if not rows.renew(Submission, pk, token, lease=LEASE):
            raise FencedOff
        row = _case(submission, index, result, package)
        events.publish("submission", submission.public_id, "case", selectors.case_data(row, total))

    cases = _cases(package, submission)
    try:
        judgement = judge.judge(package, submission.source, cases, on_case)
    except FencedOff:
        log.warning("Submission %s was taken over by another judge", submission.public_id)
        return
    is_run = submission.kind == Submission.Kind.RUN
    told = None if is_run else _diagnosis(package, cases, judgement)
    seen = shown.evidence_of(judge, package, submission.source, submission.seed, cases, judgement)
    extra = [] if is_run else shown.bonus_of(judge, package, submission.source, judgement)
    _finish(submission, token, judgement, package.digest, package, told, seen, extra)


def _diagnosis(package: Package, cases: list[Any], judgement: Judgement) -> Diagnosis | None:
    """What to tell the learner. The verdict stands without it, so an error here costs the advice only."""
    try:
        return diagnose(package, cases, judgement, ADVICE_SECONDS)
    except Exception:
        log.exception("No diagnosis for a submission to %s", package.name)
        return None


def _cases(package: Package, submission: Submission) -> list[Any]:
    if submission.kind != Submission.Kind.RUN:
        return list(package.cases(submission.seed))
    own = [package.custom(submission.custom)] if submission.custom else []
    return [*own, *package.samples()]


def _case(submission: Submission, index: int, result: Result, package: Package | None) -> CaseResult:
    """The row of one case. What a hidden case printed or returned is left out, so that no hidden input gets out."""
    texts: list[list[str]] = []
    got = output = ""
    if result.group != "secret":
        seen = result.observation
        got = record.show(seen.value) if seen else ""
        output = seen.output if seen else ""
        if result.group == "custom" and submission.custom and package is not None:
            texts = [list(pair) for pair in package.custom(submission.custom).shown]
        elif package is not None:
            texts = next(([list(p) for p in case.shown] for case in package.samples() if case.name == result.name), [])
    return CaseResult(
        submission=submission,
        index=index,
        name=result.name,
        group=result.group,
        note=result.note,
        verdict=result.verdict,
        reason=result.reason or "",
        message=_clean(result.message),
        ms=result.ms,
        got=_clean(got),
        output=_clean(output),
        shown=texts,
        observation=_clean_json(record.observation(result.observation)),
    )


def _clean(text: str) -> str:
    """Text that a database and a page can hold: no NUL characters, no lone surrogates."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


def _clean_json(data: dict[str, Any]) -> dict[str, Any]:
    """The same for every text inside JSON."""
    cleaned: dict[str, Any] = json.loads(_clean(json.dumps(data, ensure_ascii=False)).replace("\\u0000", "\ufffd"))
    return cleaned


def _finish(
    submission: Submission,
    token: int,
    judgement: Judgement,
    digest: str,
    package: Package | None = None,
    told: Diagnosis | None = None,
    evidence: dict[str, Any] | None = None,
    bonus: list[dict[str, Any]] | None = None,
) -> None:
    """Store verdict and cases in one transaction, exactly once: only the holder of the newest token gets in."""
    fields = {
        "verdict": judgement.verdict,
        "reason": judgement.reason or "",
        "message": _clean(told.message if told else judgement.message),
        "misconception": told.match.misconception if told and told.match and told.match.named else "",
        "advice": {"kind": told.kind, "title": told.title, "hint": told.hint, "link": told.link} if told else {},
        "passed": judgement.passed,
        "total": judgement.total,
        "time_ms": judgement.ms,
        "output": _clean(judgement.output),
        "evidence": _clean_json(evidence or {}),
        "bonus": [_clean_json(case) for case in bonus or []],
        "package_digest": digest,
    }
    with transaction.atomic():
        if not rows.finish(Submission, submission.pk, token, Submission.State.DONE, **fields):
            log.warning("Submission %s already has its verdict", submission.public_id)
            return
        CaseResult.objects.bulk_create(
            [_case(submission, index, result, package) for index, result in enumerate(judgement.cases)]
        )
    submission.refresh_from_db()
    if submission.verdict == Verdict.JE:
        log.error("Submission %s ends as a judge error after %d attempts", submission.public_id, token)
    events.publish("submission", submission.public_id, "verdict", selectors.verdict_data(submission), final=True)


def sweep() -> int:
    """Send again what a dead worker or a lost broker left behind; after three attempts it is a judge error.

    While no judge is able to judge, nothing is sent: the rows wait, and the queue does not fill with repeats.
    """
    from problems.tasks import judge as task

    usable = selectors.judge_problem() is None

    def resend(row: Submission) -> None:
        if usable:
            rows.send(row, task, queue.INTERACTIVE)

    def give_up(row: Submission) -> None:
        with bound_contextvars(request_id=row.request_id):
            _finish(row, row.token, Judgement(Verdict.JE, None, GIVEN_UP, 0, 0, 0.0), "")

    sent = rows.sweep(
        Submission,
        resend,
        older_than=RESEND_AFTER,
        max_attempts=MAX_ATTEMPTS,
        on_exhausted=give_up,
        among=~Q(kind=Submission.Kind.REJUDGE),
    )
    return sent + (queue.revive_bulk(RESEND_AFTER) if usable else 0)


# --- judges ------------------------------------------------------------------------------------------------------


def announce_judge(name: str, report: Report) -> None:
    """Note what a judge worker's self-test found, where the site can read it."""
    now = timezone.now()
    JudgeWorker.objects.update_or_create(
        name=name,
        defaults={
            "profile": report.profile,
            "is_usable": report.usable,
            "sentence": report.sentence,
            "tested_at": now,
            "seen_at": now,
        },
    )


def judge_seen(name: str) -> None:
    """A judge worker is alive."""
    JudgeWorker.objects.filter(name=name).update(seen_at=timezone.now())


def judge_gone(name: str) -> None:
    """A judge worker stops in good order."""
    JudgeWorker.objects.filter(name=name).delete()
