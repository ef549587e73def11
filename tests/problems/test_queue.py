"""Whose turn it is: learners take turns, interactive work goes before bulk, a judge error counts for nothing."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from structlog.contextvars import bound_contextvars, get_contextvars

from pixelbank.core import metrics, rows
from pixelbank.learners.models import Learner
from problems import judging, queue, selectors, services, tasks
from problems.judge.judge import Judge
from problems.models import Problem, Submission
from tests.problems.test_services import GOOD

pytestmark = pytest.mark.django_db


@pytest.fixture
def problem(db: None) -> Problem:
    return Problem.objects.create(
        name="p", title="P", summary="s", signature="p()", statement="", starter="", digest=""
    )


@pytest.fixture
def send(problem: Problem) -> Any:
    """Put a row into the queue: send(learner, kind) -> Submission."""

    def make(learner: Learner, kind: str = "submit") -> Submission:
        return Submission.objects.create(learner=learner, problem=problem, kind=kind, source="x", seed=1)

    return make


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make this process one whose worker serves the given queues."""

    def serve(*names: str) -> None:
        monkeypatch.setattr(queue, "served", frozenset(names))

    return serve


def finish(held: tuple[int, int] | None) -> int:
    assert held is not None
    pk, token = held
    assert rows.finish(Submission, pk, token, "done", verdict="AC")
    return pk


# --- turns -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("judges", [1, 2, 3])
@pytest.mark.parametrize("begun", [0, 5])
def test_thirty_waiting_delay_somebody_elses_one_by_at_most_one_judging_a_judge(
    send: Any, judges: int, begun: int
) -> None:
    eager = Learner.objects.create()
    mine = [send(eager) for _ in range(30)]
    for _ in range(begun):
        finish(queue.take(mine[0].pk))
    busy = [queue.take(row.pk) for row in mine[:judges]]
    other = send(Learner.objects.create())
    before = 0
    while True:
        finish(busy.pop(0))  # the judge that has been at it the longest is free
        busy.append(queue.take(mine[0].pk))
        if busy[-1][0] == other.pk:  # type: ignore[index]
            break
        before += 1
    assert before == 0  # no judging of the other learner's was begun once the single one had come


def test_learners_take_turns_whatever_the_messages_say(send: Any) -> None:
    learners = [Learner.objects.create() for _ in range(3)]
    sent = [send(learner) for learner in learners for _ in range(4)]
    judged = [Submission.objects.get(pk=finish(queue.take(row.pk))).learner for row in reversed(sent)]
    assert [learners.index(learner) for learner in judged] == [0, 1, 2] * 4
    assert queue.take(sent[0].pk) is None


def test_nobody_is_overtaken_by_a_crowd_of_later_arrivals(send: Any) -> None:
    patient = Learner.objects.create()
    finish(queue.take(send(patient).pk))
    waiting = send(patient)
    crowd = [send(Learner.objects.create()) for _ in range(10)]
    assert finish(queue.take(crowd[-1].pk)) == waiting.pk


def test_own_submissions_keep_their_order(send: Any) -> None:
    learner = Learner.objects.create()
    sent = [send(learner, kind) for kind in ("submit", "run", "submit")]
    assert [finish(queue.take(sent[2].pk)) for _ in sent] == [row.pk for row in sent]


def test_each_row_is_judged_though_messages_name_others(
    send: Any, valkey: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "judge", lambda: Judge(None))  # type: ignore[arg-type]
    sent = [send(Learner.objects.create()) for _ in range(3)]
    for row in sent:
        services.perform(row.pk)
    assert Submission.objects.filter(state="done").count() == 3


def test_a_dead_judges_row_is_taken_by_its_own_message(send: Any) -> None:
    row = send(Learner.objects.create())
    assert rows.claim(Submission, row.pk, lease=timedelta(seconds=-1)) == 1
    assert queue.take(row.pk) == (row.pk, 2)


# --- lanes -------------------------------------------------------------------------------------------------------


def test_bulk_waits_for_interactive_where_one_worker_serves_both(send: Any, worker: Any) -> None:
    worker("judge", "judge.bulk")
    learner = Learner.objects.create()
    bulk = [send(learner, "rejudge") for _ in range(2)]
    live = [send(Learner.objects.create()) for _ in range(2)]
    order = [finish(queue.take(bulk[0].pk)) for _ in range(4)]
    assert order == [row.pk for row in [*live, *bulk]]


def test_a_judge_of_the_queue_judge_never_takes_bulk(send: Any, worker: Any) -> None:
    worker("judge")
    learner = Learner.objects.create()
    bulk, live = send(learner, "rejudge"), send(learner)
    assert finish(queue.take(live.pk)) == live.pk
    assert queue.take(live.pk) is None
    worker("judge.bulk")
    assert finish(queue.take(bulk.pk)) == bulk.pk


def test_a_bulk_worker_leaves_interactive_work_to_the_others(send: Any, worker: Any) -> None:
    worker("judge.bulk")
    learner = Learner.objects.create()
    bulk, live = send(learner, "rejudge"), send(learner)
    assert finish(queue.take(bulk.pk)) == bulk.pk
    live.refresh_from_db()
    assert live.state == "queued"


def test_the_sweeper_starts_a_broken_chain_of_bulk_messages_again(
    send: Any, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[int] = []
    monkeypatch.setattr(tasks.judge, "apply_async", lambda args, queue, **_: sent.append(args[0]))
    made = [send(Learner.objects.create(), "rejudge") for _ in range(10)]

    def sweep() -> int:
        sent.clear()
        with django_capture_on_commit_callbacks(execute=True):
            queue.revive_bulk(timedelta(seconds=30))
        return len(sent)

    assert sweep() == 0  # just made: its own messages are on their way
    Submission.objects.update(created_at=timezone.now() - timedelta(minutes=5))
    assert sweep() == queue.BULK_MESSAGES
    assert sweep() == 0  # they were sent a moment ago
    Submission.objects.update(enqueued_at=timezone.now() - timedelta(minutes=5))
    assert rows.claim(Submission, made[9].pk, lease=timedelta(seconds=30))
    assert sweep() == 0  # one is being judged, and leads to the next


# --- the position ------------------------------------------------------------------------------------------------


def test_ahead_says_how_many_come_before(send: Any) -> None:
    eager, other = Learner.objects.create(), Learner.objects.create()
    mine = [send(eager) for _ in range(5)]
    single = send(other)
    assert [selectors.ahead(row) for row in mine] == [0, 2, 3, 4, 5]
    assert selectors.ahead(single) == 1
    assert selectors.snapshot(single.public_id)["ahead"] == 1  # type: ignore[index]
    promised = {row.pk: selectors.ahead(row) for row in [*mine, single]}
    order = [finish(queue.take(single.pk)) for _ in promised]
    assert {pk: order.index(pk) for pk in order} == promised
    single.refresh_from_db()
    assert selectors.ahead(single) is None


def test_ahead_in_bulk(send: Any) -> None:
    sent = [send(Learner.objects.create(), "rejudge") for _ in range(3)]
    assert [selectors.ahead(row) for row in sent] == [0, 1, 2]


# --- judge errors ------------------------------------------------------------------------------------------------


def test_a_judge_error_is_no_attempt_and_is_seen_by_operators(
    send: Any, valkey: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = Learner.objects.create()
    solved = send(learner)
    finish(queue.take(solved.pk))
    seen: list[Any] = []
    record = logging.LogRecord.getMessage
    monkeypatch.setattr(
        logging.LogRecord, "getMessage", lambda self: seen.append(get_contextvars().get("request_id")) or record(self)
    )
    failing = Problem.objects.create(
        name="unreadable", title="U", summary="s", signature="u()", statement="", starter="", digest=""
    )
    row = send(learner)
    Submission.objects.filter(pk=row.pk).update(problem=failing, request_id="req-17")
    monkeypatch.setattr(judging, "judge", lambda: Judge(None))  # type: ignore[arg-type]
    with caplog.at_level(logging.ERROR, logger="problems"), bound_contextvars(request_id="another"):
        services.perform(row.pk)  # its package cannot be read
    row.refresh_from_db()
    assert (row.state, row.verdict) == ("done", "JE")
    assert "not your fault" in row.message
    assert f"Submission {row.public_id} ends as a judge error" in caplog.text
    assert set(seen) == {"req-17"}  # that of the page's request, not of the message that happened to arrive
    assert selectors.tried(learner) == {"p"}
    assert selectors.solved(learner) == {"p"}
    assert selectors.judge_errors() == {"hour": 1, "day": 1, "ever": 1}
    shown = metrics.exposition().decode()
    assert 'pixelbank_judge_errors{within="hour"} 1.0' in shown
    assert 'pixelbank_submissions_waiting{queue="judge"} 0.0' in shown


# --- limits ------------------------------------------------------------------------------------------------------


def test_limits_count_by_learner_and_by_address_and_say_when_to_try_again(
    valkey: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    services.load_content()
    monkeypatch.setattr(tasks.judge, "apply_async", lambda *args, **fields: None)
    monkeypatch.setattr(services, "MAX_WAITING", 1000)

    def post(client: Client, address: str) -> Any:
        answer = client.post(
            "/problems/numericalgradient/judge/",
            {"source": GOOD, "action": "run"},
            headers={"Accept": "application/json"},
            REMOTE_ADDR=address,
        )
        return answer.status_code, answer.json().get("error", "")

    eager, other = Client(), Client()
    # the first one makes the learner, who is counted from then on
    answers = [post(eager, f"192.0.2.{n}") for n in range(22)]
    assert [status for status, _ in answers] == [202] * 21 + [429]
    assert "try again in" in answers[-1][1]
    assert answers[-1][1].endswith(" seconds.")
    assert post(other, "192.0.2.1")[0] == 202  # another learner at the same address
    monkeypatch.setattr("problems.views.BY_ADDRESS", "2/minute")
    assert [post(Client(), "192.0.2.99")[0] for _ in range(3)] == [202, 202, 429]
