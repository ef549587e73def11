"""Rejudging: nothing changes before it is applied, then only what is still as it was; survives a killed worker."""

from __future__ import annotations

import os
import signal
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.utils import timezone

from pixelbank.learners.models import Learner, User
from problems import judging, packages, queue, rejudge, selectors, services, tasks
from problems.judge.judge import Judge
from problems.judge.sandbox import Sandbox
from problems.judge.selftest import Report
from problems.judge.trusted import TrustedSandbox
from problems.models import Problem, Rejudge, RejudgeItem, Submission
from problems.rejudge import RejudgeRefused
from tests.conftest import Worker, wait_until
from tests.problems.test_services import BAD, GOOD

# right, but each case takes a moment: there is a middle to be killed in
SLOW = GOOD.replace("    slopes = ", "    import time\n    time.sleep(0.06)\n    slopes = ", 1)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    letters: list[tuple[int, str]] = []
    monkeypatch.setattr(tasks.judge, "apply_async", lambda args, queue, **_: letters.append((args[0], queue)))
    return letters


@pytest.fixture
def problem(db: None, valkey: str, sent: list[Any], monkeypatch: pytest.MonkeyPatch) -> Problem:
    """The real package; programs of the catalogue are judged in this process: these tests are not about the jail."""
    services.announce_judge("judge@here", Report("full", ()))
    monkeypatch.setattr(judging, "judge", lambda: Judge(TrustedSandbox()))
    return stored()


def stored() -> Problem:
    """The row of the real package, without its pages, which nobody looks at here."""
    package = packages.get("numericalgradient")
    texts = {"summary": "s", "signature": package.signature, "statement": "", "starter": ""}
    return Problem.objects.create(name=package.name, title=package.title, digest=package.digest, **texts)


@pytest.fixture
def boss(db: None) -> User:
    user: User = User.objects.create_superuser(email="boss@example.org", password="a long enough one")
    return user


def judged(problem: Problem, source: str, learner: Learner | None = None, **wrong: Any) -> Submission:
    """A judged submission; `wrong` is what an earlier, mistaken package is supposed to have said."""
    row = services.submit(learner or Learner.objects.create(), problem, source, "submit")
    services.perform(row.pk)
    Submission.objects.filter(pk=row.pk).update(**wrong)
    row.refresh_from_db()
    return row


def run(batch: Rejudge) -> None:
    for item in batch.items.all():
        services.perform(item.again_id)


def everything() -> Any:
    return Submission.objects.all()


FALSE_AC = {"verdict": "AC", "passed": 28, "reason": "", "message": "All 28 cases are right."}
FALSE_WA = {"verdict": "WA", "passed": 3, "reason": "tolerance", "message": "Not so."}


@pytest.mark.django_db
def test_nothing_changes_before_it_is_applied(problem: Problem, boss: User) -> None:
    right, denied, favoured = judged(problem, GOOD), judged(problem, GOOD, **FALSE_WA), judged(problem, BAD, **FALSE_AC)
    batch = rejudge.start(everything(), "all", boss)
    assert batch.asked == 3
    run(batch)
    assert rejudge.progress(batch) == rejudge.Progress(3, 3)
    assert {(c.old, c.new, c.count) for c in rejudge.changes(batch)} == {("WA", "AC", 1), ("AC", "WA", 1)}
    assert rejudge.effects(batch) == rejudge.Effects(gains=1, losses=1, accepted_lost=1)
    for row in (right, denied, favoured):
        before = (row.verdict, row.passed, row.message, row.seed)
        row.refresh_from_db()
        assert (row.verdict, row.passed, row.message, row.seed) == before
        assert row.rejudges.get().seed == row.seed  # the same hidden cases
        assert row.rejudges.get().package_digest == problem.digest
    assert selectors.history(denied.learner, problem) == [denied]
    assert len(selectors.export(denied.learner)) == 1
    assert selectors.solved(denied.learner) == set()


@pytest.mark.django_db
def test_applying_gives_but_takes_accepted_verdicts_only_when_told(problem: Problem, boss: User) -> None:
    denied, favoured = judged(problem, GOOD, **FALSE_WA), judged(problem, BAD, **FALSE_AC)
    batch = rejudge.start(everything(), "all", boss)
    run(batch)
    assert rejudge.apply(batch, boss, "a tolerance was wrong") == {"applied": 1, "kept": 1}
    denied.refresh_from_db()
    favoured.refresh_from_db()
    assert (denied.verdict, denied.passed, denied.cases.count()) == ("AC", denied.total, denied.total)
    assert not denied.cases.exclude(verdict="AC").exists()
    assert favoured.verdict == "AC"
    assert selectors.solved(denied.learner) == selectors.solved(favoured.learner) == {problem.name}
    batch.refresh_from_db()
    assert (batch.state, batch.decided_by, batch.why) == ("applied", boss, "a tolerance was wrong")
    assert batch.decided_at is not None
    changed = batch.items.get(outcome="applied")
    assert (changed.old_verdict, changed.before["message"]) == ("WA", "Not so.")
    # the rejudge keeps its own cases, too
    assert changed.again.cases.count() == denied.total
    # asked twice: nothing is done twice
    with pytest.raises(RejudgeRefused, match="already"):
        rejudge.apply(batch, boss, "again", losses=True)
    favoured.refresh_from_db()
    assert favoured.verdict == "AC"
    # a second batch can take it, when told
    second = rejudge.start(Submission.objects.filter(pk=favoured.pk), "one", boss)
    run(second)
    assert rejudge.apply(second, boss, "announced", losses=True) == {"applied": 1}
    favoured.refresh_from_db()
    assert favoured.verdict == "WA"
    assert selectors.solved(favoured.learner) == set()


@pytest.mark.django_db
def test_a_loss_is_counted_only_when_nothing_else_is_accepted(problem: Problem, boss: User) -> None:
    learner = Learner.objects.create()
    judged(problem, BAD, learner, **FALSE_AC)
    judged(problem, GOOD, learner)
    batch = rejudge.start(everything(), "all", boss)
    run(batch)
    assert rejudge.effects(batch) == rejudge.Effects(gains=0, losses=0, accepted_lost=1)


@pytest.mark.django_db
def test_what_changed_since_is_left_alone_and_a_judge_error_changes_nothing(problem: Problem, boss: User) -> None:
    overtaken, failed = judged(problem, GOOD, **FALSE_WA), judged(problem, GOOD, **FALSE_WA)
    batch = rejudge.start(everything(), "all", boss)
    run(batch)
    Submission.objects.filter(pk=overtaken.pk).update(verdict="TLE")
    Submission.objects.filter(original=failed).update(verdict="JE", passed=0)
    assert rejudge.apply(batch, boss, "try") == {"overtaken": 1}
    overtaken.refresh_from_db()
    failed.refresh_from_db()
    assert (overtaken.verdict, failed.verdict) == ("TLE", "WA")


@pytest.mark.django_db
def test_a_judge_error_of_before_can_become_a_verdict(problem: Problem, boss: User) -> None:
    row = judged(problem, GOOD, verdict="JE", passed=0)
    batch = rejudge.start(everything().filter(verdict="JE"), "errors", boss)
    run(batch)
    rejudge.apply(batch, boss, "the disk was full")
    assert selectors.solved(row.learner) == {problem.name}


@pytest.mark.django_db
def test_asking_twice_begins_nothing_twice(problem: Problem, boss: User) -> None:
    judged(problem, GOOD)
    first = rejudge.start(everything(), "all", boss)
    with pytest.raises(RejudgeRefused, match="nothing to judge again"):
        rejudge.start(everything(), "all", boss)
    with pytest.raises(RejudgeRefused, match="not judged yet"):
        rejudge.apply(first, boss, "now")
    with pytest.raises(RejudgeRefused, match="Say why"):
        rejudge.discard(first, boss, "  ")
    rejudge.discard(first, boss, "by mistake")
    assert not Submission.objects.filter(kind="rejudge").exists()  # what waited was taken back
    assert rejudge.start(everything(), "all", boss).asked == 1


@pytest.mark.django_db
def test_a_stopped_batch_keeps_what_was_judged(
    problem: Problem, boss: User, sent: list[tuple[int, str]], django_capture_on_commit_callbacks: Any
) -> None:
    for _ in range(6):
        judged(problem, GOOD, **FALSE_WA)
    with django_capture_on_commit_callbacks(execute=True):
        batch = rejudge.start(everything(), "all", boss)
    assert [name for _, name in sent] == ["judge.bulk"] * queue.BULK_MESSAGES  # a batch does not fill the broker
    sent.clear()
    with django_capture_on_commit_callbacks(execute=True):
        services.perform(batch.items.first().again_id)
    assert len(sent) == 1  # each leads to the next
    assert rejudge.stop(batch)
    assert not rejudge.stop(batch)
    assert rejudge.progress(batch) == rejudge.Progress(1, 1)
    batch.refresh_from_db()
    assert (batch.state, batch.asked) == ("stopped", 6)
    assert rejudge.apply(batch, boss, "enough") == {"applied": 1}


@pytest.mark.django_db
def test_a_row_that_was_taken_back_while_it_was_claimed_is_no_error(problem: Problem, boss: User) -> None:
    judged(problem, GOOD)
    batch = rejudge.start(everything(), "all", boss)
    held = queue.take(batch.items.get().again_id)
    assert held is not None
    Submission.objects.filter(pk=held[0]).delete()
    services._judge(Judge(TrustedSandbox()), *held)
    assert rejudge.progress(batch).total == 0


@pytest.mark.django_db
def test_a_learner_whose_submissions_are_judged_again_can_go_on(
    problem: Problem, boss: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = Learner.objects.create()
    judged(problem, GOOD, learner)
    judged(problem, BAD, learner)
    rejudge.start(everything(), "all", boss)
    monkeypatch.setattr(services, "MAX_WAITING", 1)
    assert services.submit(learner, problem, GOOD, "submit").state == "queued"


# --- in the admin ------------------------------------------------------------------------------------------------


@pytest.fixture
def admin(boss: User) -> Client:
    client = Client()
    client.force_login(boss)
    return client


@pytest.mark.django_db
def test_staff_sees_what_would_change_and_decides(problem: Problem, admin: Client, boss: User) -> None:
    judged(problem, GOOD)
    denied, favoured = judged(problem, GOOD, **FALSE_WA), judged(problem, BAD, **FALSE_AC)
    begun = admin.post("/admin/problems/problem/", {"action": "rejudge_all", "_selected_action": [problem.pk]})
    batch = Rejudge.objects.get()
    url = f"/admin/problems/rejudge/{batch.pk}/change/"
    assert (begun.status_code, begun.url, batch.created_by) == (302, url, boss)
    page = admin.get(url).text
    assert "0 of 3 judged" in page
    assert 'http-equiv="refresh"' in page  # it shows how it goes
    assert 'value="Apply"' not in page
    assert 'http-equiv="refresh"' not in admin.get(f"{url}?still").text
    run(batch)
    page = admin.get(url).text
    assert 'http-equiv="refresh"' not in page
    assert "1 accepted submission would no longer be accepted" in page
    assert page.count('<th scope="row">') == 2  # changed only
    assert admin.get(f"{url}?all").text.count('<th scope="row">') == 3
    assert admin.get(f"{url}?old=WA&new=AC").text.count('<th scope="row">') == 1
    assert " style=" not in page.split('id="content-main"')[1]
    refused = admin.post(f"/admin/problems/rejudge/{batch.pk}/apply/", {"why": ""}, follow=True)
    assert "Say why in a few words" in refused.text
    said = admin.post(f"/admin/problems/rejudge/{batch.pk}/apply/", {"why": "a wrong tolerance"}, follow=True).text
    assert "Changed: 1; accepted and kept: 1;" in said
    denied.refresh_from_db()
    favoured.refresh_from_db()
    assert (denied.verdict, favoured.verdict) == ("AC", "AC")
    entry = LogEntry.objects.filter(object_id=str(batch.pk)).first()
    assert entry is not None
    assert entry.user == boss
    assert "a wrong tolerance" in entry.change_message
    assert 'value="Discard"' not in admin.get(url).text
    again = admin.post(f"/admin/problems/rejudge/{batch.pk}/discard/", {"why": "no"}, follow=True).text
    assert "decided already" in again


@pytest.mark.django_db
def test_one_submission_or_all_of_a_kind_from_the_admin(problem: Problem, admin: Client) -> None:
    one, error = judged(problem, GOOD), judged(problem, GOOD, verdict="JE", passed=0)
    admin.post("/admin/problems/submission/", {"action": "rejudge", "_selected_action": [one.pk]})
    assert RejudgeItem.objects.get().again.original == one
    assert admin.get("/admin/problems/rejudge/add/").status_code == 200
    admin.post("/admin/problems/rejudge/add/", {"problem": "", "verdict": "JE"})
    assert Rejudge.objects.first().items.get().again.original == error  # type: ignore[union-attr]
    answer = admin.post("/admin/problems/rejudge/add/", {"problem": problem.pk, "verdict": ""}, follow=True)
    assert "There is nothing to judge again" in answer.text
    stopped = admin.post(f"/admin/problems/rejudge/{Rejudge.objects.latest('pk').pk}/stop/", follow=True)
    assert "Stopped" in stopped.text


@pytest.mark.django_db
def test_lists_find_and_show_what_operators_look_for(problem: Problem, admin: Client) -> None:
    row, error = judged(problem, GOOD), judged(problem, BAD, verdict="JE")
    page = "/admin/problems/submission/"
    for words in (str(row.public_id), row.short_sha, str(row.learner.public_id)):
        found = admin.get(page, {"q": words}).text
        assert row.short_sha in found
        assert error.short_sha not in found
    assert row.short_sha not in admin.get(page, {"verdict__exact": "JE"}).text
    shown = admin.get(f"{page}{row.pk}/change/").text
    assert str(row.public_id) in shown
    assert "<pre>import numpy as np" in shown
    assert 'name="source"' not in shown  # nothing can be edited
    judges = admin.get("/admin/problems/judgeworker/").text
    assert "judge@here" in judges
    assert " s ago" in judges


@pytest.mark.django_db
def test_only_those_who_may_do_it(problem: Problem, admin: Client) -> None:
    judged(problem, GOOD)
    admin.post("/admin/problems/rejudge/add/", {"problem": "", "verdict": ""})
    batch = Rejudge.objects.get()
    clerk = User.objects.create_user(email="clerk@example.org", password="a long enough one", is_staff=True)
    client = Client()
    client.force_login(clerk)
    assert client.get(f"/admin/problems/rejudge/{batch.pk}/change/").status_code == 403
    assert client.post(f"/admin/problems/rejudge/{batch.pk}/discard/", {"why": "x"}).status_code == 403
    assert admin.get(f"/admin/problems/rejudge/{batch.pk}/apply/").status_code == 405
    batch.refresh_from_db()
    assert batch.state == "open"


# --- with a real worker ------------------------------------------------------------------------------------------


@pytest.mark.workers
@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_batch_survives_a_killed_worker_and_lets_learners_go_first(
    sandbox: Sandbox, transactional_db: None, celery_worker_process: Worker
) -> None:
    problem, learner = stored(), Learner.objects.create()
    for source in (SLOW, GOOD, BAD, GOOD):
        row = services.submit(learner, problem, source, "submit")
        Submission.objects.filter(pk=row.pk).update(state="done", **FALSE_WA)
    boss = User.objects.create_superuser(email="boss@example.org", password="a long enough one")
    batch = rejudge.start(everything(), "all", boss)
    with celery_worker_process("judge,judge.bulk") as worker:
        wait_until(lambda: batch.items.filter(again__state="running").exists(), 60, "the batch did not begin")
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()
    assert rejudge.progress(batch).done == 0
    live = services.submit(learner, problem, GOOD, "submit")
    with celery_worker_process("judge,judge.bulk"):
        # the lease of the dead runs out, time passes, and what beat would call every ten seconds is called here
        then = timezone.now() - timedelta(minutes=5)
        Submission.objects.filter(state="running", token=1).update(lease_until=then)
        Submission.objects.filter(kind="rejudge").update(created_at=then, enqueued_at=then)

        def through() -> bool:
            services.sweep()
            return not rejudge.progress(batch).left

        wait_until(through, 90, "the batch did not end")
    live.refresh_from_db()
    assert live.verdict == "AC"
    ends = Submission.objects.filter(kind="rejudge").values_list("finished_at", flat=True)
    assert all(live.finished_at < end for end in ends)  # type: ignore[operator]
    assert {(c.old, c.new, c.count) for c in rejudge.changes(batch)} == {("WA", "AC", 3), ("WA", "WA", 1)}
    assert rejudge.apply(batch, boss, "test")["applied"] == 4
