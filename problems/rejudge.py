"""Rejudging: judge submissions again, look at what would change, then apply it or not.

A batch's items are submissions of the kind `rejudge`, beside their originals, with the stored seeds and the package
as it is now. They are rows like any other: a worker that dies leaves them to the sweeper. Originals stay as they are
until staff applies the batch, and then only those whose verdict or number of right cases differs, each one only if it
still says what it said when the batch began.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from pixelbank.learners.models import User
from problems import queue
from problems.judge.verdicts import Verdict
from problems.models import CaseResult, Rejudge, RejudgeItem, Submission

RESULT = (
    "verdict", "reason", "message", "misconception", "advice", "evidence", "bonus", "passed", "total", "time_ms",
    "output", "package_digest",
)  # fmt: skip
UNDECIDED = (Rejudge.State.OPEN, Rejudge.State.STOPPED)
JUDGED = Q(again__state=Submission.State.DONE)
FAILED = JUDGED & Q(again__verdict=Verdict.JE)
# An error of the judge changes nobody's verdict.
CHANGED = (
    JUDGED
    & ~Q(again__verdict=Verdict.JE)
    & ~Q(again__verdict=F("old_verdict"), again__passed=F("old_passed"), again__total=F("old_total"))
)


class RejudgeRefused(Exception):
    """Nothing was done. The message is one sentence for staff."""


def start(submissions: QuerySet[Submission], scope: str, by: User | None = None) -> Rejudge:
    """Begin a batch of the judged submissions among `submissions`. Those in an undecided batch are left out there, so
    that asking twice does nothing twice. Raises RejudgeRefused when none is left."""
    judged = submissions.filter(kind=Submission.Kind.SUBMIT, state=Submission.State.DONE)
    with transaction.atomic():
        pending = RejudgeItem.objects.filter(rejudge__state__in=UNDECIDED).values("again__original")
        originals = list(judged.exclude(pk__in=pending).order_by("pk").defer("message", "output", "evidence", "advice"))
        if not originals:
            raise RejudgeRefused(
                "There is nothing to judge again: no judged submission was chosen, or all of them are in a batch that "
                "is still to be decided."
            )
        batch = Rejudge.objects.create(scope=scope[:200], created_by=by, asked=len(originals))
        again = Submission.objects.bulk_create(
            [
                Submission(
                    learner_id=row.learner_id,
                    problem_id=row.problem_id,
                    kind=Submission.Kind.REJUDGE,
                    original=row,
                    source=row.source,
                    source_sha256=row.source_sha256,
                    seed=row.seed,
                    request_id=row.request_id,
                )
                for row in originals
            ],
            batch_size=200,
        )
        RejudgeItem.objects.bulk_create(
            [
                RejudgeItem(
                    rejudge=batch, again=new, old_verdict=row.verdict, old_passed=row.passed, old_total=row.total
                )
                for row, new in zip(originals, again, strict=True)
            ],
            batch_size=200,
        )
        queue.send_bulk(queue.BULK_MESSAGES)
    return batch


def stop(batch: Rejudge) -> bool:
    """Take back what waits; what has been judged can still be applied. False when it was no longer open."""
    with transaction.atomic():
        open_ = Rejudge.objects.filter(pk=batch.pk, state=Rejudge.State.OPEN)
        stopped = bool(open_.update(state=Rejudge.State.STOPPED))
        _take_back(batch)
    return stopped


def discard(batch: Rejudge, by: User, why: str) -> None:
    """Decide that nothing changes. Raises RejudgeRefused when the batch was decided before."""
    with transaction.atomic():
        _decide(batch, Rejudge.State.DISCARDED, by, why)
        _take_back(batch)


def apply(batch: Rejudge, by: User, why: str, *, losses: bool = False) -> Counter[str]:
    """Give the changed originals their new results, all in one transaction; returns how many had which outcome.

    Without `losses`, an accepted verdict is never taken away. An original that no longer says what it said when the
    batch began is left alone. Raises RejudgeRefused when items are unfinished or the batch was decided before; so
    applying twice does nothing twice.
    """
    outcomes: Counter[str] = Counter()
    with transaction.atomic():
        if progress(batch).left:
            raise RejudgeRefused("Some submissions are not judged yet: wait for them, or stop the batch.")
        _decide(batch, Rejudge.State.APPLIED, by, why)
        for item in batch.items.filter(CHANGED).select_related("again__original").iterator(chunk_size=200):
            item.outcome = _apply(item, losses=losses)
            item.save(update_fields=["outcome", "before"])
            outcomes[item.outcome] += 1
    return outcomes


def _apply(item: RejudgeItem, *, losses: bool) -> str:
    again, original = item.again, item.again.original
    assert original is not None  # noqa: S101 - start() made it so
    if item.old_verdict == Verdict.AC and again.verdict != Verdict.AC and not losses:
        return RejudgeItem.Outcome.KEPT
    unchanged = Submission.objects.filter(
        pk=original.pk,
        state=Submission.State.DONE,
        verdict=item.old_verdict,
        passed=item.old_passed,
        total=item.old_total,
    )
    if not unchanged.update(**{name: getattr(again, name) for name in RESULT}):
        return RejudgeItem.Outcome.OVERTAKEN
    item.before = {name: getattr(original, name) for name in RESULT}
    original.cases.all().delete()
    cases = list(again.cases.all())
    for case in cases:
        case.pk, case.submission = None, original
    CaseResult.objects.bulk_create(cases)
    return RejudgeItem.Outcome.APPLIED


def _decide(batch: Rejudge, state: str, by: User, why: str) -> None:
    if not why.strip():
        raise RejudgeRefused("Say why in a few words; it is kept with the batch.")
    undecided = Rejudge.objects.filter(pk=batch.pk, state__in=UNDECIDED)
    if not undecided.update(state=state, decided_at=timezone.now(), decided_by=by, why=why.strip()[:300]):
        raise RejudgeRefused("This batch has been decided already; nothing was done.")
    batch.refresh_from_db()


def _take_back(batch: Rejudge) -> None:
    Submission.objects.filter(item__rejudge=batch, state=Submission.State.QUEUED).delete()
    queue.send_bulk(queue.BULK_MESSAGES)  # messages about the rows that are gone may have been another batch's, too


# --- what staff sees before deciding -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a batch is."""

    total: int
    done: int

    @property
    def left(self) -> int:
        return self.total - self.done


def progress(batch: Rejudge) -> Progress:
    return Progress(batch.items.count(), batch.items.filter(JUDGED).count())


@dataclass(frozen=True, slots=True)
class Change:
    """So many submissions of a batch would go from one verdict to another; the same twice: other cases are right."""

    old: str
    new: str
    count: int


def changes(batch: Rejudge) -> list[Change]:
    """What would change, the most frequent first."""
    pairs = Counter(batch.items.filter(CHANGED).values_list("old_verdict", "again__verdict"))
    return [Change(old, new, count) for (old, new), count in sorted(pairs.items(), key=lambda pair: (-pair[1], pair))]


@dataclass(frozen=True, slots=True)
class Effects:
    """What applying would mean for learners, counted in pairs of learner and problem."""

    gains: int
    losses: int
    accepted_lost: int
    """Accepted submissions that would no longer be accepted."""


def effects(batch: Rejudge) -> Effects:
    """Who would come to have solved a problem, and who would no longer have, if everything were applied."""
    changed: Any = batch.items.filter(CHANGED)
    lost = changed.filter(old_verdict=Verdict.AC).exclude(again__verdict=Verdict.AC)
    won = changed.filter(again__verdict=Verdict.AC).exclude(old_verdict=Verdict.AC)
    pair = ("again__learner", "again__problem")
    won_pairs, lost_pairs = set(won.values_list(*pair)), set(lost.values_list(*pair))
    accepted = Submission.objects.filter(kind=Submission.Kind.SUBMIT, verdict=Verdict.AC).order_by()
    solved = set(accepted.filter(learner__in=changed.values("again__learner")).values_list("learner", "problem"))
    stay = set(
        accepted.filter(learner__in=lost.values("again__learner"))
        .exclude(pk__in=lost.values("again__original"))
        .values_list("learner", "problem")
    )
    return Effects(len(won_pairs - solved), len(lost_pairs - stay - won_pairs), lost.count())
