"""The pages: every step works by plain links and form posts, shows nothing hidden, and belongs to its learner."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from pixelbank.core import ratelimit
from pixelbank.core.ratelimit import RateLimited
from pixelbank.learners.models import Learner
from problems import judging, packages, selectors, services, tasks
from problems.judge.judge import Judge
from problems.judge.selftest import Report
from problems.judge.trusted import TrustedSandbox
from problems.models import Problem, Submission

FOLDER = packages.CATALOGUE / "numericalgradient" / "submissions"
GOOD = (FOLDER / "accepted" / "copy_and_restore.py").read_text()
BAD = (FOLDER / "wrong_answer" / "missing_two.py").read_text()
PAGE = "/problems/numericalgradient/"
POST = f"{PAGE}judge/"
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey", "problem")]


@pytest.fixture
def problem(db: None, monkeypatch: pytest.MonkeyPatch) -> Problem:
    services.load_content()
    services.announce_judge("judge@here", Report("full", ()))
    monkeypatch.setattr(tasks.judge, "apply_async", lambda *args, **fields: None)
    monkeypatch.setattr(judging, "judge", lambda: Judge(TrustedSandbox()))
    return Problem.objects.get()


def _post(client: Client, source: str = GOOD, action: str = "submit", **fields: str) -> Any:
    return client.post(POST, {"source": source, "action": action, **fields})


def test_the_list_and_the_page_are_open_to_everybody_and_make_no_learner(client: Client) -> None:
    page = client.get("/problems/")
    assert page.status_code == 200
    assert "Numerical Gradient" in page.text
    page = client.get(PAGE)
    assert page.status_code == 200
    assert "x[0]**2 + 3*x[0]*x[1]" in page.text
    assert "def numerical_gradient" in page.text
    assert settings.LEARNER_COOKIE_NAME not in page.cookies
    assert not Learner.objects.exists()
    assert client.get("/problems/nosuch/").status_code == 404


def test_without_a_script_a_form_leads_to_the_verdict(client: Client) -> None:
    answer = _post(client)
    row = Submission.objects.get()
    assert answer.status_code == 302
    assert answer.url == f"{PAGE}?submission={row.public_id}#result"
    waiting = client.get(answer.url)
    assert "Waiting for a judge" in waiting.text
    assert "Look again" in waiting.text
    services.perform(row.pk)
    done = client.get(answer.url)
    assert "Accepted" in done.text
    assert "28 of 28 cases right" in done.text
    assert row.source_sha256[:8] in done.text
    own = client.get(row.get_absolute_url())
    assert own.status_code == 200
    assert "kept = point[index]" in own.text


def test_with_a_script_the_same_post_answers_in_json(client: Client) -> None:
    answer = client.post(POST, {"source": BAD, "action": "run"}, headers={"Accept": "application/json"})
    assert answer.status_code == 202
    said = answer.json()
    row = Submission.objects.get()
    assert (said["kind"], said["version"], said["paused"]) == ("run", row.short_sha, "")
    services.perform(row.pk)
    part = client.get(said["result"])
    assert part.text.lstrip().startswith("<div")
    assert "Wrong answer" in part.text
    assert "12.0" in part.text  # the sample's own value is shown
    assert said["events"] == f"/events/submission/{row.public_id}/"
    assert "You have not submitted" in client.get(f"{PAGE}history/").text


@pytest.mark.parametrize(("source", "said"), [("", "no code"), ("#" * 70_000, "at most 64 KiB")])
def test_a_refusal_keeps_what_was_typed(client: Client, source: str, said: str) -> None:
    page = client.post(POST, {"source": source, "action": "run", "own_x": "[1, 2]"})
    assert page.status_code == 422
    assert said in page.text
    assert 'role="alert"' in page.text
    assert 'value="[1, 2]"' in page.text
    answer = client.post(POST, {"source": source, "action": "run"}, headers={"Accept": "application/json"})
    assert answer.status_code == 422
    assert said in answer.json()["error"]


@pytest.mark.parametrize("action", ["rejudge", "", "SUBMIT", "run\0"])
def test_an_action_that_is_not_on_the_form_is_refused(client: Client, action: str) -> None:
    answer = client.post(POST, {"source": GOOD, "action": action}, headers={"Accept": "application/json"})
    assert (answer.status_code, "neither run nor submit" in answer.json()["error"]) == (400, True)
    page = _post(client, action=action)
    assert page.status_code == 400
    assert "neither run nor submit" in page.text
    assert not Submission.objects.exists()


def test_too_many_are_asked_to_wait(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratelimit, "hit", lambda *args: RateLimited(17))
    page = _post(client)
    assert page.status_code == 429
    assert "try again in 17 seconds" in page.text
    assert "kept = point[index]" in page.text
    assert not Submission.objects.exists()


def test_the_limit_counts_for_real(client: Client) -> None:
    codes = [_post(client, BAD, "run").status_code for _ in range(19)]
    services.perform(Submission.objects.first().pk)  # type: ignore[union-attr]
    codes += [_post(client, BAD, "run").status_code for _ in range(4)]
    assert codes[0] == 302
    assert 429 in codes


def test_nobody_else_sees_a_submission(client: Client, django_user_model: Any) -> None:
    _post(client)
    row = Submission.objects.get()
    stranger = Client()
    for url in (
        row.get_absolute_url(),
        reverse("problems:result", args=[row.public_id]),
        f"{PAGE}?submission={row.public_id}",
    ):
        assert stranger.get(url).status_code == 404
    assert not selectors.may_follow(_request(stranger), row.public_id)
    assert client.get(f"{PAGE}?submission=nonsense").status_code == 404


def _request(client: Client) -> Any:
    return client.get("/problems/").wsgi_request


def test_hidden_inputs_and_answers_are_on_no_page(client: Client) -> None:
    _post(client, BAD)
    row = Submission.objects.get()
    services.perform(row.pk)
    package = packages.get("numericalgradient")
    secrets = set()
    for case in package.cases(row.seed)[3:]:
        for value in (case.arguments[1], case.expected):
            secrets |= {number for number in re.findall(r"\d+\.\d{3,}", repr(value)) if len(number) > 5}
    assert len(secrets) > 50
    pages = [client.get(url).text for url in (PAGE, f"{PAGE}?submission={row.public_id}", row.get_absolute_url())]
    pages.append(client.get(reverse("problems:result", args=[row.public_id])).text)
    pages.append(repr(selectors.snapshot(row.public_id)))
    shown = re.sub(r"\d+(\.\d+)? ms", "", " ".join(pages))
    assert not [secret for secret in secrets if secret in shown]


def test_a_paused_judge_is_said_in_a_sentence(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    services.announce_judge("judge@here", Report("none", ("Learners' code cannot run because of a test.",)))
    page = client.get(PAGE)
    assert "The judge is paused." in page.text
    assert "cannot run because of a test" in page.text
    answer = _post(client)
    assert "The judge is paused." in client.get(answer.url).text
    assert client.get("/readyz").json()["parts"]["judge"]["problem"] == "Learners' code cannot run because of a test."


def test_what_a_learner_writes_is_escaped(client: Client) -> None:
    evil = (
        "# </textarea><script>alert(1)</script>\n"
        "def numerical_gradient(f, x, h=1):\n    print('<b>x</b>')\n    return '<i>'\n"
    )
    _post(client, evil, "run")
    row = Submission.objects.get()
    services.perform(row.pk)
    for url in (f"{PAGE}?submission={row.public_id}", row.get_absolute_url(), PAGE):
        text = client.get(url).text
        assert "<script>alert(1)" not in text
        assert "<b>x</b>" not in text
        assert "'<i>'" not in text


def test_the_editorial_opens_by_solving_or_by_trying(client: Client) -> None:
    closed, open_ = "or after 3 judged attempts", "Solution, explained"
    assert closed in client.get(PAGE).text
    _post(client, BAD)
    services.perform(Submission.objects.get().pk)
    page = client.get(PAGE).text
    assert closed in page  # no counting down
    assert open_ not in page
    _post(client, GOOD)
    services.perform(Submission.objects.first().pk)  # type: ignore[union-attr]
    page = client.get(PAGE).text
    assert open_ in page
    assert ">solved<" in page
    assert "Solved" in client.get("/problems/").text


def test_the_editor_starts_with_the_last_source(client: Client) -> None:
    assert "fill in one slope" in client.get(PAGE).text
    _post(client, BAD, "run")
    assert "2 * h" not in client.get(PAGE).text.split("<textarea")[1].split("</textarea>")[0]
    assert "/ h" in client.get(PAGE).text


def test_a_rejudge_is_not_part_of_the_learners_history(client: Client, admin_client: Client) -> None:
    _post(client, BAD)
    row = Submission.objects.get()
    services.perform(row.pk)
    admin_client.post("/admin/problems/submission/", {"action": "rejudge", "_selected_action": [row.pk]})
    again = Submission.objects.get(kind="rejudge")
    assert again.original == row
    assert client.get(again.get_absolute_url()).status_code == 404
