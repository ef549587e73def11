"""Queued rows: exactly one holder, exactly one end, nothing lost. Tried on a real model, the submission."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from pixelbank.core import rows
from training.models import Run

pytestmark = pytest.mark.django_db
LEASE = timedelta(seconds=30)


@pytest.fixture
def row() -> Run:
    return Run.objects.create(**_needed())


def _needed() -> dict[str, object]:
    from pixelbank.learners.models import Learner

    return {"learner": Learner.objects.create()}


def expire(row: Run) -> None:
    Run.objects.filter(pk=row.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_only_the_first_claim_gets_the_row(row: Run) -> None:
    assert rows.claim(Run, row.pk, lease=LEASE) == 1
    assert rows.claim(Run, row.pk, lease=LEASE) is None


def test_a_holder_that_lost_its_lease_is_fenced_off(row: Run) -> None:
    old = rows.claim(Run, row.pk, lease=LEASE)
    expire(row)
    new = rows.claim(Run, row.pk, lease=LEASE)
    assert (old, new) == (1, 2)
    assert not rows.finish(Run, row.pk, old, "failed")
    assert not rows.renew(Run, row.pk, old, lease=LEASE)
    assert rows.finish(Run, row.pk, new, "done")
    row.refresh_from_db()
    assert (row.state, row.lease_until) == ("done", None)
    assert row.finished_at is not None


def test_a_finished_row_is_never_claimed_or_finished_again(row: Run) -> None:
    token = rows.claim(Run, row.pk, lease=LEASE)
    assert rows.finish(Run, row.pk, token, "done")
    assert not rows.finish(Run, row.pk, token, "failed")
    assert rows.claim(Run, row.pk, lease=LEASE) is None


def test_release_gives_the_row_back_as_if_it_had_not_been_claimed(row: Run) -> None:
    token = rows.claim(Run, row.pk, lease=LEASE)
    assert rows.release(Run, row.pk, token)
    row.refresh_from_db()
    assert (row.state, row.token) == ("queued", 0)


def test_no_more_claims_than_attempts(row: Run) -> None:
    for attempt in (1, 2, 3):
        assert rows.claim(Run, row.pk, lease=LEASE, max_attempts=3) == attempt
        expire(row)
    assert rows.claim(Run, row.pk, lease=LEASE, max_attempts=3) is None


def test_sweep_sends_again_what_was_left_behind(row: Run) -> None:
    sent: list[int] = []
    ended: list[int] = []

    def sweep(older_than: timedelta = timedelta(0), attempts: int = 3) -> int:
        sent.clear()
        return rows.sweep(
            Run,
            lambda r: sent.append(r.pk),
            older_than=older_than,
            max_attempts=attempts,
            on_exhausted=lambda r: ended.append(r.pk),
        )

    assert sweep(timedelta(hours=1)) == 0, "a fresh row is not sent twice"
    assert sweep() == 1
    assert sent == [row.pk]
    rows.claim(Run, row.pk, lease=LEASE)
    assert sweep() == 0, "a row that is being worked on stays with its holder"
    expire(row)
    assert sweep() == 1, "its lease ran out: the holder is dead"
    rows.claim(Run, row.pk, lease=LEASE)
    expire(row)
    assert sweep(attempts=2) == 0
    assert ended == [row.pk], "after the last attempt the row gets an end instead of another try"


def test_when_the_broker_is_away_the_row_just_waits(row: Run) -> None:
    from kombu.exceptions import OperationalError

    class Broken:
        def apply_async(self, *args: object, **kwargs: object) -> None:
            raise OperationalError("no broker")

    assert rows.send(row, Broken(), "training") is False
    row.refresh_from_db()
    assert (row.state, row.enqueued_at) == ("queued", None)
