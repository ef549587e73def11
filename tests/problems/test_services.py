"""Submissions as queued rows: taken or refused in a sentence, judged exactly once, never lost, never unsandboxed."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from pixelbank.core import events, rows
from pixelbank.core.redis import client
from pixelbank.learners.models import Learner
from problems import judging, packages, selectors, services, tasks
from problems.judge.judge import Judge
from problems.judge.selftest import Report
from problems.judge.trusted import TrustedSandbox
from problems.judge.verdicts import Verdict
from problems.models import CaseResult, JudgeWorker, Problem, Submission
from problems.services import SubmissionRefused

FOLDER = packages.CATALOGUE / "numericalgradient" / "submissions"
GOOD = (FOLDER / "accepted" / "copy_and_restore.py").read_text()
BAD = (FOLDER / "wrong_answer" / "forward_difference.py").read_text()
pytestmark = pytest.mark.django_db


@pytest.fixture
def problem(db: None) -> Problem:
    assert services.load_content() == "1 problem"
    return Problem.objects.get(name="numericalgradient")


@pytest.fixture
def learner(db: None) -> Learner:
    return Learner.objects.create()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    """What is sent to the broker: (pk, queue)."""
    letters: list[tuple[int, str]] = []

    def apply_async(args: list[int], queue: str, **_: Any) -> None:
        letters.append((args[0], queue))

    monkeypatch.setattr(tasks.judge, "apply_async", apply_async)
    return letters


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of the catalogue are judged in this process: these tests are about rows, not about the jail."""
    monkeypatch.setattr(judging, "judge", lambda: Judge(TrustedSandbox()))


@pytest.fixture
def paused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "judge", lambda: None)


@pytest.fixture
def at_work(db: None) -> None:
    services.announce_judge("judge@here", Report("full", ()))


@pytest.fixture
def stream(valkey: str) -> Any:
    def read(submission: Submission) -> list[tuple[str, dict[str, Any]]]:
        entries = client().xrange(events.key("submission", submission.public_id))
        return [(fields["kind"], json.loads(fields["data"])) for _, fields in entries]

    return read


# --- content -----------------------------------------------------------------------------------------------------


def test_content_is_loaded_and_loading_it_again_changes_nothing(problem: Problem) -> None:
    assert "<math" in problem.statement
    assert "f(x" in problem.statement
    assert len(problem.samples) == 3
    assert services.load_content() == "1 problem"
    assert Problem.objects.count() == 1
    assert problem.digest == packages.get("numericalgradient").digest


def test_a_problem_whose_package_is_gone_is_no_longer_shown(problem: Problem) -> None:
    Problem.objects.create(name="gone", title="Gone", summary="s", signature="g()", statement="", starter="", digest="")
    services.load_content()
    assert [row.name for row in selectors.published()] == ["numericalgradient"]


# --- taking ------------------------------------------------------------------------------------------------------


def test_a_submission_is_stored_and_sent_on_commit(
    problem: Problem, learner: Learner, sent: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        row = services.submit(learner, problem, GOOD.replace("\n", "\r\n"), "submit")
        assert sent == []
    assert sent == [(row.pk, "judge")]
    assert row.source == GOOD
    assert row.state == "queued"
    assert len(row.short_sha) == 8


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("", "no code"),
        ("  \n ", "no code"),
        ("#" * 70_000, "at most 64 KiB"),
        ("x = 1\0", "NUL character in line 1"),
    ],
)
def test_what_cannot_be_judged_is_refused_in_a_sentence(
    problem: Problem, learner: Learner, source: str, said: str
) -> None:
    with pytest.raises(SubmissionRefused, match=said) as caught:
        services.submit(learner, problem, source, "submit")
    assert str(caught.value).endswith(".")
    assert not Submission.objects.exists()


def test_own_input_that_cannot_be_read_is_refused(problem: Problem, learner: Learner) -> None:
    with pytest.raises(SubmissionRefused, match="x must be a number"):
        services.submit(learner, problem, GOOD, "run", {"f": "x", "x": "one", "h": ""})
    row = services.submit(learner, problem, GOOD, "run", {"f": "", "x": " ", "h": ""})
    assert row.custom is None


def test_one_learner_cannot_fill_the_queue(problem: Problem, learner: Learner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "MAX_WAITING", 2)
    for _ in range(2):
        services.submit(learner, problem, GOOD, "submit")
    with pytest.raises(SubmissionRefused, match="still waiting"):
        services.submit(learner, problem, GOOD, "submit")
    services.submit(Learner.objects.create(), problem, GOOD, "submit")


# --- judging -----------------------------------------------------------------------------------------------------


def test_a_verdict_its_cases_and_its_events(problem: Problem, learner: Learner, here: None, stream: Any) -> None:
    row = services.submit(learner, problem, BAD, "submit")
    services.perform(row.pk)
    row.refresh_from_db()
    assert (row.state, row.verdict, row.reason) == ("done", "WA", "tolerance")
    assert row.total == row.cases.count() == 28
    assert row.passed == row.cases.filter(verdict="AC").count()
    assert row.package_digest == problem.digest
    kinds = [kind for kind, _ in stream(row)]
    assert kinds == ["state", *["case"] * 28, "verdict"]
    last = stream(row)[-1][1]
    assert last["version"] == row.short_sha
    assert row.short_sha in last["said"]


def test_run_means_the_samples_and_own_input(problem: Problem, learner: Learner, here: None, valkey: str) -> None:
    row = services.submit(learner, problem, GOOD, "run", {"f": "np.sum(x**3)", "x": "[1, 2]", "h": "0.5"})
    services.perform(row.pk)
    row.refresh_from_db()
    cases = list(row.cases.all())
    assert [case.group for case in cases] == ["custom", "sample", "sample", "sample"]
    assert cases[0].got == "[3.25, 12.25]"
    assert cases[1].shown
    assert (row.verdict, row.verdict_text) == ("AC", "Samples pass")


def test_nothing_of_a_hidden_case_gets_out(problem: Problem, learner: Learner, here: None, stream: Any) -> None:
    leak = "def numerical_gradient(f, x, h=1e-5):\n    print('INPUT', x)\n    raise ValueError('INPUT %r' % (x,))\n"
    row = services.submit(learner, problem, leak, "submit")
    services.perform(row.pk)
    hidden = row.cases.filter(group="secret")
    assert hidden.count() == 25
    for case in hidden:
        assert (case.got, case.output, case.shown) == ("", "", [])
        assert "INPUT" not in case.message
    told = json.dumps([data for kind, data in stream(row) if kind == "case" and data["group"] == "secret"])
    assert "INPUT" not in told
    assert row.cases.filter(group="sample", output__contains="INPUT").count() == 3


def test_the_same_message_twice_gives_one_verdict(
    problem: Problem, learner: Learner, here: None, stream: Any, sent: list[Any]
) -> None:
    row = services.submit(learner, problem, GOOD, "submit")
    services.perform(row.pk)
    services.perform(row.pk)
    assert CaseResult.objects.filter(submission=row).count() == 28
    assert [kind for kind, _ in stream(row)].count("verdict") == 1


def test_a_judge_that_was_overtaken_writes_nothing(
    problem: Problem, learner: Learner, here: None, stream: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = services.submit(learner, problem, GOOD, "submit")
    renew = rows.renew
    calls = []

    def overtaken(model: Any, pk: int, token: int, **fields: Any) -> bool:
        calls.append(pk)
        if len(calls) == 5:  # another worker takes the row over in the middle
            Submission.objects.filter(pk=pk).update(token=token + 1)
        return renew(model, pk, token, **fields)

    monkeypatch.setattr(rows, "renew", overtaken)
    services.perform(row.pk)
    row.refresh_from_db()
    assert (row.state, row.verdict, row.token) == ("running", "", 2)
    assert len(calls) == 5
    assert not row.cases.exists()
    # the new holder finishes it
    services._finish(row, 2, services.Judgement(Verdict.AC, None, "", 0, 0, 0.0), "")
    row.refresh_from_db()
    assert (row.state, row.verdict) == ("done", "AC")


def test_an_error_of_the_judge_is_never_the_learners(
    problem: Problem, learner: Learner, valkey: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        profile = "broken"
        starts = 0

        def start(self, limits: Any) -> Any:
            Broken.starts += 1
            raise OSError("no more processes")

    monkeypatch.setattr(judging, "judge", lambda: Judge(Broken()))
    row = services.submit(learner, problem, GOOD, "submit")
    services.perform(row.pk)
    row.refresh_from_db()
    assert (row.state, row.verdict, row.passed) == ("done", "JE", 0)
    assert "not your fault" in row.message
    assert Broken.starts == 2  # tried once more
    assert selectors.solved(learner) == set()


def test_what_a_learner_prints_can_always_be_stored(
    problem: Problem, learner: Learner, here: None, valkey: str
) -> None:
    source = "print('\\0 \\ud800'.encode('utf-8', 'surrogatepass').decode('utf-8', 'replace'))\n" + GOOD.replace(
        "    slopes = ", "    print('\\0')\n    slopes = "
    )
    row = services.submit(learner, problem, source, "run")
    services.perform(row.pk)
    row.refresh_from_db()
    assert row.verdict == "AC"
    assert "\0" not in row.cases.first().output  # type: ignore[union-attr]


# --- failing closed ----------------------------------------------------------------------------------------------


def test_without_a_sandbox_nothing_is_claimed_and_the_site_says_why(
    problem: Problem, learner: Learner, paused: None, sent: list[Any], valkey: str
) -> None:
    services.announce_judge("judge@here", Report("none", ("Learners' code cannot run because of a test.",)))
    row = services.submit(learner, problem, GOOD, "submit")
    services.perform(row.pk)
    row.refresh_from_db()
    assert (row.state, row.token, row.verdict) == ("queued", 0, "")
    assert selectors.judge_problem() == "Learners' code cannot run because of a test."
    Submission.objects.update(created_at=timezone.now() - timedelta(hours=1))
    services.sweep()
    assert sent == []  # the queue does not fill with repeats
    services.announce_judge("judge@there", Report("full", ()))
    assert selectors.judge_problem() is None
    services.sweep()
    assert sent == [(row.pk, "judge")]


def test_a_judge_that_is_silent_for_long_does_not_count(db: None) -> None:
    assert "No judge is running" in str(selectors.judge_problem())
    services.announce_judge("judge@here", Report("full", ()))
    assert selectors.judge_problem() is None
    JudgeWorker.objects.update(seen_at=timezone.now() - timedelta(minutes=5))
    assert "No judge is running" in str(selectors.judge_problem())
    services.judge_seen("judge@here")
    assert selectors.judge_problem() is None
    services.judge_gone("judge@here")
    assert not JudgeWorker.objects.exists()


def test_the_judge_of_a_process_whose_self_test_failed_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "_state", judging._State())
    monkeypatch.setattr(judging, "selftest", lambda: (None, Report("none", ("No.",))))
    assert judging.judge() is None
    assert judging.judge() is None


# --- the sweeper -------------------------------------------------------------------------------------------------


def test_what_a_dead_judge_left_is_judged_again(
    problem: Problem, learner: Learner, here: None, at_work: None, sent: list[Any], valkey: str
) -> None:
    row = services.submit(learner, problem, GOOD, "submit")
    assert rows.claim(Submission, row.pk, lease=timedelta(seconds=-1)) == 1  # claimed by a worker that died
    Submission.objects.update(created_at=timezone.now() - timedelta(minutes=5))
    services.sweep()
    assert sent == [(row.pk, "judge")]
    services.perform(row.pk)
    row.refresh_from_db()
    assert (row.state, row.verdict, row.token) == ("done", "AC", 2)


def test_after_three_attempts_it_is_a_judge_error(
    problem: Problem, learner: Learner, at_work: None, sent: list[Any], stream: Any
) -> None:
    row = services.submit(learner, problem, GOOD, "submit")
    for _ in range(services.MAX_ATTEMPTS):
        assert rows.claim(Submission, row.pk, lease=timedelta(seconds=-1))
    services.sweep()
    row.refresh_from_db()
    assert (row.state, row.verdict) == ("done", "JE")
    assert stream(row)[-1][0] == "verdict"
    services.perform(row.pk)
    row.refresh_from_db()
    assert row.verdict == "JE"


# --- export -----------------------------------------------------------------------------------------------------------


def test_solved_and_overview(problem: Problem, learner: Learner, here: None, valkey: str) -> None:
    assert selectors.overview(learner) is None
    row = services.submit(learner, problem, GOOD, "run")
    services.perform(row.pk)
    assert selectors.solved(learner) == set()  # the samples alone solve nothing
    row = services.submit(learner, problem, GOOD, "submit")
    services.perform(row.pk)
    assert selectors.solved(learner) == {"numericalgradient"}
    overview = selectors.overview(learner)
    assert overview is not None
    assert overview.figures[0].value == 1
    assert selectors.problem_of_the_day() == problem
    exported = selectors.export(learner)
    assert {item["kind"] for item in exported} == {"run", "submit"}
    json.dumps(exported)
