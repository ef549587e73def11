"""Rows that are also jobs. The row is the truth; a Celery message only says "look at this row".

Life of a row: queued -> running -> one of the model's end states. Every change is a compare-and-set UPDATE,
which works alike on SQLite and PostgreSQL. `token` is a fencing token (Kleppmann, "How to do distributed
locking", 2016): each claim raises it, and a worker that lost its lease can't write with its old one.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from celery import Task
from django.db import models, transaction
from django.db.models import F, Q
from django.utils import timezone
from kombu.exceptions import OperationalError

log = logging.getLogger(__name__)

QUEUED, RUNNING = "queued", "running"


class QueuedRow(models.Model):
    """Base of everything that a worker does for a learner. Subclasses declare `State` and name `state`'s choices."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    state = models.CharField(max_length=16, default=QUEUED, db_index=True)
    token = models.PositiveIntegerField("claims so far", default=0, editable=False)
    lease_until = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    enqueued_at = models.DateTimeField(null=True, blank=True, editable=False)
    finished_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        abstract = True

    @property
    def is_finished(self) -> bool:
        return self.state not in {QUEUED, RUNNING}


def claim(model: type[QueuedRow], pk: int, *, lease: timedelta, max_attempts: int = 3) -> int | None:
    """Take the row, if it waits or its holder's lease ran out. Returns the fencing token, or None if it isn't ours."""
    now = timezone.now()
    free = Q(state=QUEUED) | Q(state=RUNNING, lease_until__lt=now)
    row = model._default_manager.filter(free, pk=pk, token__lt=max_attempts).values("token").first()
    if row is None:
        return None
    token = row["token"] + 1
    taken = model._default_manager.filter(free, pk=pk, token=row["token"]).update(
        state=RUNNING, token=token, lease_until=now + lease
    )
    return token if taken else None


def update(model: type[QueuedRow], pk: int, token: int, /, **fields: Any) -> bool:
    """Write fields while still the holder. False: another worker has the row, stop at once."""
    held = model._default_manager.filter(pk=pk, token=token, state=RUNNING)
    return bool(held.update(**fields))


def renew(model: type[QueuedRow], pk: int, token: int, *, lease: timedelta) -> bool:
    return update(model, pk, token, lease_until=timezone.now() + lease)


def finish(model: type[QueuedRow], pk: int, token: int, state: str, **fields: Any) -> bool:
    """Bring the row into an end state, exactly once. False: somebody else finished or holds it."""
    return update(model, pk, token, state=state, lease_until=None, finished_at=timezone.now(), **fields)


def release(model: type[QueuedRow], pk: int, token: int) -> bool:
    """Give the row back unharmed, as if it had never been claimed (the judge is not usable, say)."""
    return update(model, pk, token, state=QUEUED, token=F("token") - 1, lease_until=None, enqueued_at=None)


def send(row: QueuedRow, task: Task[Any, Any], queue: str) -> bool:
    """Send the hint. When the broker can't be reached the row just stays queued and the sweeper sends it later."""
    try:
        task.apply_async((row.pk,), queue=queue, retry=False)
    except OperationalError as error:
        log.warning("%s %s waits for the sweeper: the broker can't be reached (%s).", row._meta.label, row.pk, error)
        return False
    type(row)._default_manager.filter(pk=row.pk, state=QUEUED).update(enqueued_at=timezone.now())
    return True


def enqueue_on_commit(row: QueuedRow, task: Task[Any, Any], queue: str) -> None:
    transaction.on_commit(lambda: send(row, task, queue))


def sweep(
    model: type[QueuedRow],
    resend: Callable[[Any], object],
    *,
    older_than: timedelta,
    max_attempts: int = 3,
    on_exhausted: Callable[[Any], object],
    among: Q = Q(),  # noqa: B008 - never changed
) -> int:
    """Re-queue what dead workers or a lost broker left behind; returns how many rows were sent again.

    Rows whose lease ran out go back to queued; those that already had `max_attempts` claims are handed to
    `on_exhausted(row)`, which must give them an end state. `resend(row)` sends the hint again, for the waiting rows
    that `among` selects.
    """
    now = timezone.now()
    rows = model._default_manager
    lost = Q(state=RUNNING, lease_until__lt=now)
    for row in rows.filter(lost, token__gte=max_attempts):
        on_exhausted(row)
    rows.filter(lost, token__lt=max_attempts).update(state=QUEUED, lease_until=None, enqueued_at=None)
    stale = Q(enqueued_at__isnull=True, created_at__lt=now - older_than) | Q(enqueued_at__lt=now - older_than)
    waiting = list(rows.filter(stale, among, state=QUEUED).order_by("pk")[:500])
    for row in waiting:
        resend(row)
    return len(waiting)
