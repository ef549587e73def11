"""Whose turn it is. A message from the broker only says that a judge is free; the waiting rows say for whom.

Two lanes: interactive (a learner looks on: `run` and `submit`) on the queue `judge`, and bulk (`rejudge`) on
`judge.bulk`. A worker that serves both takes nothing of bulk while an interactive row waits; one that serves `judge`
never takes bulk.

Among interactive rows the learners take turns. First comes whoever has the fewest submissions being judged; among
equals, whoever was served, or began to wait, the longest ago. Nobody can be overtaken by a crowd of later arrivals,
and somebody with thirty submissions waiting delays the next learner's by what is being judged already, no more.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Max, Min, Q, QuerySet
from django.utils import timezone

from pixelbank.core import rows
from problems.models import Submission

INTERACTIVE, BULK = "judge", "judge.bulk"
LEASE = timedelta(seconds=30)
MAX_ATTEMPTS = 3
# Each bulk message leads to the next one, so that a batch of any size has only this many in the broker.
BULK_MESSAGES = 4
# Who was served longer ago than this has no turn to wait for.
REMEMBERED = timedelta(hours=1)

served: frozenset[str] = frozenset()
"""The queues that this process's worker takes messages from; problems.worker sets it before the pool is forked."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A learner with submissions waiting."""

    learner: int
    waiting: int
    busy: int
    since: datetime
    """When the learner was last served, or began to wait; the later of the two."""


def waiting(lane: str) -> QuerySet[Submission]:
    """The rows of a lane that wait, oldest first."""
    bulk = Q(kind=Submission.Kind.REJUDGE)
    queued = Submission.objects.filter(state=Submission.State.QUEUED, token__lt=MAX_ATTEMPTS)
    return queued.filter(bulk if lane == BULK else ~bulk).order_by("created_at", "pk")


def turns() -> list[Turn]:
    """The learners who wait, the next one first."""
    queued, running = Q(state=Submission.State.QUEUED), Q(state=Submission.State.RUNNING)
    recent = Q(finished_at__isnull=True) | Q(finished_at__gte=timezone.now() - REMEMBERED)
    found = (
        Submission.objects.filter(recent, learner__in=waiting(INTERACTIVE).order_by().values("learner"))
        .exclude(kind=Submission.Kind.REJUDGE)
        .order_by()
        .values("learner")
        .annotate(
            waiting=Count("pk", filter=queued),
            busy=Count("pk", filter=running),
            oldest=Min("created_at", filter=queued),
            last=Max("finished_at"),
        )
    )
    return sorted(
        (
            Turn(row["learner"], row["waiting"], row["busy"], max(row["last"] or row["oldest"], row["oldest"]))
            for row in found
            if row["oldest"]
        ),
        key=lambda turn: (turn.busy, turn.since, turn.learner),
    )


def take(pk: int) -> tuple[int, int] | None:
    """Claim a row for this free judge: (row, fencing token), or None when nothing waits.

    `pk` is the row that the message named. It tells the lane, and is looked at itself when no row of the lane waits:
    its judge may have died.
    """
    bulk = is_bulk(pk)
    lanes = [INTERACTIVE] * (not bulk or INTERACTIVE in served) + [BULK] * bulk
    for lane in lanes:
        while (first := _first(lane)) is not None:
            if token := rows.claim(Submission, first, lease=LEASE, max_attempts=MAX_ATTEMPTS):
                return first, token
    token = rows.claim(Submission, pk, lease=LEASE, max_attempts=MAX_ATTEMPTS)
    return (pk, token) if token else None


def is_bulk(pk: int) -> bool:
    return Submission.objects.filter(pk=pk, kind=Submission.Kind.REJUDGE).exists()


def _first(lane: str) -> int | None:
    """The row that is next in a lane."""
    if lane == BULK:
        return waiting(BULK).values_list("pk", flat=True).first()
    for turn in turns():
        if pk := waiting(INTERACTIVE).filter(learner=turn.learner).values_list("pk", flat=True).first():
            return pk
    return None


def send_bulk(count: int) -> None:
    """Tell the bulk judges of `count` waiting rows, when the transaction is committed."""
    from problems.tasks import judge as task  # tasks call services, which call this

    def send() -> None:
        for row in waiting(BULK)[:count]:
            rows.send(row, task, BULK)

    transaction.on_commit(send)


def revive_bulk(older_than: timedelta) -> int:
    """For the sweeper: start the chain of bulk messages again where it broke off. Returns how many were sent."""
    now = timezone.now()
    alive = Q(state=Submission.State.RUNNING, lease_until__gte=now) | Q(
        state=Submission.State.QUEUED, enqueued_at__gte=now - older_than
    )
    first = waiting(BULK).first()
    if first is None or first.created_at > now - older_than:
        return 0
    if Submission.objects.filter(alive, kind=Submission.Kind.REJUDGE).exists():
        return 0
    send_bulk(BULK_MESSAGES)
    return BULK_MESSAGES


def ahead(submission: Submission) -> int | None:
    """How many submissions are judged before a waiting one, if nobody else comes; None when it doesn't wait."""
    if submission.state != Submission.State.QUEUED:
        return None
    older = Q(created_at__lt=submission.created_at) | Q(created_at=submission.created_at, pk__lt=submission.pk)
    if submission.kind == Submission.Kind.REJUDGE:
        return waiting(BULK).filter(older).count()
    own = waiting(INTERACTIVE).filter(older, learner=submission.learner_id).count()
    before, passed = own, False
    for turn in turns():
        if turn.learner == submission.learner_id:
            passed = True
        else:
            before += min(turn.waiting, own if passed else own + 1)
    return before
