"""The web path: a judged submission carries one message, the name of the misconception, and where to read on."""

from __future__ import annotations

from typing import Any

import pytest

from pixelbank.chapters.services import load_content as load_chapters
from pixelbank.learners.models import Learner
from problems import judging, packages, services
from problems.judge.judge import Judge
from problems.judge.trusted import TrustedSandbox
from problems.models import Problem, Submission

HELD_OUT = packages.CATALOGUE / "numericalgradient" / "pixelbank" / "heldout"


@pytest.fixture
def here(valkey: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of the catalogue are judged in this process, tasks are not sent: these tests are about the advice."""
    monkeypatch.setattr(judging, "judge", lambda: Judge(TrustedSandbox()))
    monkeypatch.setattr("problems.tasks.judge.apply_async", lambda *args, **options: None)


@pytest.fixture
def problem(db: None) -> Problem:
    services.load_content()
    return Problem.objects.get(name="numericalgradient")


def performed(problem: Problem, source: str, kind: str = "submit") -> Submission:
    row = services.submit(Learner.objects.create(), problem, source, kind)
    services.perform(row.pk)
    row.refresh_from_db()
    return row


def test_a_wrong_submission_is_explained(problem: Problem, here: None) -> None:
    row = performed(problem, (HELD_OUT / "forward_difference.py").read_text("utf-8"))
    texts = packages.get(problem.name).misconceptions["forward-difference"]
    assert (row.verdict, row.misconception) == ("WA", "forward-difference")
    assert row.message.endswith(texts["sentence"])
    assert row.advice == {"kind": "misconception", "title": texts["title"], "hint": 1, "link": texts["link"]}
    slug, heading = texts["link"].split("#")
    assert row.advice_url == f"/learn/pretraining/{slug}/#{heading}"


def test_a_right_submission_and_a_run_are_left_alone(problem: Problem, here: None) -> None:
    good = (packages.CATALOGUE / problem.name / "submissions" / "accepted" / "nditer.py").read_text("utf-8")
    row = performed(problem, good)
    assert (row.verdict, row.misconception, row.advice["kind"]) == ("AC", "", "accepted")
    run = performed(problem, (HELD_OUT / "missing_two.py").read_text("utf-8"), "run")
    assert (run.verdict, run.misconception, run.advice, run.advice_url) == ("WA", "", {}, "")


def test_a_mistake_in_the_advice_does_not_cost_the_verdict(
    problem: Problem, here: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("our mistake")

    monkeypatch.setattr(services, "diagnose", broken)
    row = performed(problem, (HELD_OUT / "missing_two.py").read_text("utf-8"))
    assert (row.state, row.verdict, row.misconception, row.advice) == ("done", "WA", "", {})
    assert "not close enough" in row.message


def test_the_page_shows_title_message_and_links(problem: Problem, here: None) -> None:
    from django.template.loader import render_to_string

    from problems.page import result_context

    row = performed(problem, (HELD_OUT / "missing_two.py").read_text("utf-8"))
    html = render_to_string("problems/_result.html", result_context(row))
    assert "Divided by h instead of 2h" in html
    assert f'href="{row.advice_url}"' in html
    assert f'href="{problem.get_absolute_url()}#hints-title"' in html


def test_every_link_leads_to_a_heading_of_the_chapter(problem: Problem, client: Any) -> None:
    load_chapters()
    links = {row["link"] for row in packages.get(problem.name).misconceptions.values()}
    for link in links:
        slug, heading = link.split("#")
        page = client.get(f"/learn/pretraining/{slug}/")
        assert page.status_code == 200, link
        assert f'id="{heading}"' in page.content.decode(), link
