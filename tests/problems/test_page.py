"""The problem page's result: one message with its line, an open case drawn, versions compared, the bonus outside."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from problems import drawing, judging, packages, selectors, services, tasks
from problems.judge.judge import Judge
from problems.judge.selftest import Report
from problems.judge.trusted import TrustedSandbox
from problems.models import Problem, Submission

FOLDER = packages.CATALOGUE / "numericalgradient"
PAGE = "/problems/numericalgradient/"
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey", "problem")]


def program(name: str) -> str:
    return next((FOLDER / "submissions").glob(f"*/{name}.py")).read_text("utf-8")


@pytest.fixture
def problem(db: None, monkeypatch: pytest.MonkeyPatch) -> Problem:
    services.load_content()
    services.announce_judge("judge@here", Report("full", ()))
    monkeypatch.setattr(tasks.judge, "apply_async", lambda *args, **fields: None)
    monkeypatch.setattr(judging, "judge", lambda: Judge(TrustedSandbox()))
    return Problem.objects.get()


def send(client: Client, source: str, action: str = "submit") -> Submission:
    client.post(f"{PAGE}judge/", {"source": source, "action": action})
    row = Submission.objects.first()
    assert row is not None
    services.perform(row.pk)
    row.refresh_from_db()
    return row


def result(client: Client, row: Submission) -> str:
    return client.get(reverse("problems:result", args=[row.public_id])).text


def test_a_forward_difference_is_drawn_on_the_curve(client: Client) -> None:
    row = send(client, program("forward_difference"))
    drawn = row.evidence["drawing"]
    assert (row.evidence["name"], drawn["kind"]) == ("sample 3", "curve")
    assert {place["x"] for place in drawn["yours"]} == {"1.5", "2"}
    assert [place["x"] for place in drawn["wanted"]] == ["1", "2"]
    assert drawn["slopes"] == [7.0, 9.25]
    html = result(client, row)
    assert "Sample 3 shows it" in html
    assert "<pb-evidence" in html
    assert "the formula: slope 7" in html  # drawn by the server, so it is there without a script
    assert "You called f at" in html
    assert "The points as a table" in html


def test_many_entries_become_a_strip(client: Client) -> None:
    source = program("all_dims_at_once")
    case = packages.get("numericalgradient").samples()[0]
    judged = Judge(TrustedSandbox()).judge(packages.get("numericalgradient"), source, [case])
    from problems.judge.evidence import evidence

    drawn = evidence(case, judged.cases[0])["drawing"]
    assert drawn["kind"] == "strip"
    assert all(together for row in drawn["rows"] for _, together in row["yours"])
    assert "together with other entries" in drawing.sentence(drawn)
    assert "◆ moved together" in str(drawing.scene(drawn).shapes)


def test_a_fault_in_hidden_cases_only_is_shown_by_a_feedback_case(client: Client) -> None:
    row = send(client, program("f_gets_flat_vector"))
    assert not row.cases.filter(group="sample").exclude(verdict="AC").exists()
    failed = row.cases.filter(group="secret").exclude(verdict="AC").first()
    assert failed is not None
    assert (row.evidence["group"], row.evidence["name"]) == ("feedback", failed.name)
    html = result(client, row)
    assert f"A case of this kind: {row.evidence['note']}" in html
    for label in ("f(x)", "x", "h", "answer"):
        text = dict(row.evidence["values"])[label]
        assert text.split("*")[0] in html
    assert row.cases.count() == row.total  # it is no case of the verdict


def test_nothing_of_a_graded_case_is_in_the_evidence(client: Client) -> None:
    package = packages.get("numericalgradient")
    for name in ("f_gets_flat_vector", "no_list_support", "forward_difference", "hides_nan"):
        row = send(client, program(name))
        assert row.evidence, name
        written = json.dumps([row.evidence, selectors.snapshot(row.public_id)]) + result(client, row)
        written += client.get(row.get_absolute_url()).text
        secrets: set[str] = set()
        for case in package.cases(row.seed)[3:]:
            for value in (case.arguments[1], case.expected):
                secrets |= {number for number in re.findall(r"\d+\.\d{3,}", repr(value)) if len(number) > 5}
        assert len(secrets) > 50
        shown = re.sub(r"\d+(\.\d+)? ms", "", written)
        shown = re.sub(r'( d="[^"]*"|"curve": \[\[.*?\]\]|&quot;curve&quot;:\[\[.*?\]\])', "", shown)
        assert not [secret for secret in secrets if re.search(rf"(?<![\d.]){re.escape(secret)}(?!\d)", shown)]


def test_a_syntax_error_shows_its_line_with_a_caret(client: Client) -> None:
    row = send(client, "import numpy as np\n\ndef numerical_gradient(f, x, h=1e-7)\n    return x\n")
    assert row.verdict == "CE"
    html = result(client, row)
    assert "Line 3 of your code" in html
    caret = re.search(r"quoted-caret.*?</span>( *)\^", html)
    assert caret is not None
    assert len(caret[1]) == len("def numerical_gradient(f, x, h=1e-7)")
    assert row.evidence == {}


def test_an_exception_is_shown_at_the_learners_line(client: Client) -> None:
    row = send(client, "def numerical_gradient(f, x, h=1e-7):\n    y = x + h\n    return y.missing(f)\n")
    assert row.verdict == "RE"
    html = result(client, row)
    assert "Line 3 of your code" in html
    assert "y.missing(f)" in html
    assert "quoted-caret" not in html
    assert row.evidence["group"] == "sample"
    assert row.evidence["drawing"] is None


def test_a_message_about_a_line_that_is_not_there_quotes_nothing(client: Client) -> None:
    row = send(client, "def numerical_gradient(f, x, h=1e-7):\n    return g\n")
    assert 'class="quoted"' in result(client, row)
    Submission.objects.filter(pk=row.pk).update(message="NameError in line 999: name 'g' is not defined")
    assert 'class="quoted"' not in result(client, row)


def test_a_right_program_learns_about_the_bonus(client: Client) -> None:
    row = send(client, program("fresh_copies"))
    assert row.verdict == "AC"
    assert [case["passed"] for case in row.bonus] == [True, True, True]
    assert "Bulletproof" in result(client, row)
    assert "bulletproof" in client.get(PAGE).text


def test_missing_the_bonus_costs_nothing(client: Client) -> None:
    row = send(client, program("in_place_exact_restore"))
    assert (row.verdict, row.passed, row.total) == ("AC", 28, 28)
    assert [case["passed"] for case in row.bonus] == [True, False, False]
    html = result(client, row)
    assert "Beyond the statement" in html
    assert "Not yet" in html
    assert "bulletproof" not in client.get(PAGE).text


def test_a_mistake_of_ours_in_the_evidence_costs_the_evidence_only(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("our mistake")

    monkeypatch.setattr("problems.shown.choose", broken)
    row = send(client, program("missing_two"))
    assert (row.verdict, row.evidence) == ("WA", {})
    assert row.misconception == "missing-two"


def test_the_own_page_of_a_submission_shows_what_changed(client: Client) -> None:
    first = send(client, program("missing_two"))
    second = send(client, program("forward_difference"))
    third = send(client, program("fresh_copies"))
    assert "Changes since version" not in client.get(first.get_absolute_url()).text
    text = client.get(second.get_absolute_url()).text
    assert f"Changes since version <code>{first.short_sha}</code>" in text
    assert 'data-kind="added"' in text
    chosen = client.get(third.get_absolute_url(), {"against": str(first.public_id)}).text
    assert f"Changes since version <code>{first.short_sha}</code>" in chosen
    stranger = Client()
    other = send(stranger, program("nditer"))
    page = client.get(third.get_absolute_url(), {"against": str(other.public_id)}).text
    assert other.short_sha not in page


def test_a_judge_error_is_no_attempt(client: Client) -> None:
    for _ in range(3):
        row = send(client, program("missing_two"))
        Submission.objects.filter(pk=row.pk).update(verdict="JE")
    assert "Solution, explained" not in client.get(PAGE).text
    for _ in range(3):
        send(client, program("missing_two"))
    page = client.get(PAGE).text
    assert "Solution, explained" in page
    assert "<pb-difference-error" in page
    assert page.count('<details class="hint"') == 6


def test_feedback_cases_cover_every_property_and_are_solved_by_all_accepted_programs() -> None:
    package = packages.get("numericalgradient")
    judge = Judge(TrustedSandbox())
    for seed in range(3):
        open_ = package.feedback(seed)
        assert [case.name for case in open_] == [case.name for case in package.cases(9)[3:]]
        for known in package.submissions:
            if known.verdict == "AC":
                assert judge.judge(package, known.path.read_text("utf-8"), open_).verdict == "AC", known.path.stem


def test_some_hidden_cases_are_fixed_and_the_others_are_drawn() -> None:
    package = packages.get("numericalgradient")
    fixed = package.generator.FIXED
    for one, two in zip(package.cases(1)[3:], package.cases(2)[3:], strict=True):
        same = repr(one.arguments[1:]) == repr(two.arguments[1:]) and repr(one.expected) == repr(two.expected)
        assert same == (one.name in fixed), one.name


def test_changes_between_versions() -> None:
    from problems.versions import changes, counted

    assert changes("a\nb\n", "a\nb\n") == []
    rows = changes("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\ne\ng\nh\n")
    assert [(row.kind, row.text) for row in rows] == [
        ("skipped", "2 unchanged lines"),
        *[("same", letter) for letter in "cde"],
        ("removed", "f"),
        ("added", "g"),
        ("added", "h"),
    ]
    assert counted(rows) == "2 lines added, 1 line removed."


def test_nobody_gets_evidence_of_a_hidden_case() -> None:
    from problems.judge.evidence import evidence

    package = packages.get("numericalgradient")
    hidden: Any = package.cases(1)[3]
    judged = Judge(TrustedSandbox()).judge(package, program("missing_two"), [hidden])
    with pytest.raises(ValueError, match="not open"):
        evidence(hidden, judged.cases[0])
