"""The chapter's pages over HTTP, with and without scripts, for visitors and for accounts."""

from __future__ import annotations

import datetime
import re

import pytest
from django.test import Client

from pixelbank.chapters import selectors, services
from pixelbank.chapters.models import Answer, Reading, Section
from pixelbank.learners.models import Learner
from pixelbank.learners.services import merge

CONTENTS = "/learn/pretraining/"
RING = "/learn/pretraining/data-parallelism/"
SLOPE = "/learn/pretraining/gradients-checked-numerically/"

pytestmark = pytest.mark.usefixtures("content")


@pytest.fixture
def client(valkey):
    return Client()


def answer(client, choice=1, question="dp-bytes", **headers):
    return client.post(RING + "answers/", {"question": question, "choice": choice}, headers=headers)


def test_loading_again_changes_nothing():
    before = list(Section.objects.values_list("pk", "content_hash", "published_at"))
    assert "(0 changed)" in services.load_content()
    assert list(Section.objects.values_list("pk", "content_hash", "published_at")) == before


def test_a_section_that_lost_its_file_is_only_planned(monkeypatch):
    from pixelbank.chapters import content

    monkeypatch.setattr(content, "sources", lambda slug: {})
    services.load_content()
    assert not Section.objects.filter(state=Section.State.PUBLISHED).exists()


def test_the_contents_list_all_sections_and_link_only_what_can_be_read(client):
    page = client.get(CONTENTS).content.decode()
    assert page.count('class="section-line') == 23
    assert page.count("section-line planned") == 21
    assert f'href="{RING}"' in page
    assert "/learn/pretraining/tokenization/" not in page


@pytest.mark.parametrize("address", [RING, SLOPE])
def test_a_section_can_be_read_without_scripts(client, address):
    page = client.get(address).content.decode()
    assert "<svg" in page
    assert "<math" in page
    assert "Show the numbers" in page
    assert 'aria-current="page"' in page
    assert page.count("<fieldset>") == 4
    assert re.search(r'rel="(prev|next)"', page)
    assert not re.search(r"\sstyle=|\son[a-z]+=", page)


@pytest.mark.parametrize("address", ["/learn/pretraining/tokenization/", "/learn/pretraining/no/", "/learn/no/"])
def test_what_is_not_written_is_not_found(client, address):
    assert client.get(address).status_code == 404


def test_reading_makes_nobody(client):
    client.get(RING)
    assert not Learner.objects.exists()


def test_an_answer_by_plain_form_comes_back_with_its_feedback(client):
    response = answer(client, 0)
    assert response.status_code == 302
    assert response["Location"] == f"{RING}#dp-bytes"
    page = client.get(RING).content.decode()
    assert "Not quite." in page
    assert "reduce-scatter, alone costs almost" in page
    assert 'value="0" required checked' in page
    assert Answer.objects.get().right is False


def test_an_answer_by_script_brings_just_the_feedback(client):
    data = answer(client, 1, accept="application/json").json()
    assert data["right"] is True
    assert data["feedback"].startswith('<p class="notice good"><strong>Right.</strong>')


def test_a_prediction_is_kept_but_not_marked(client):
    data = answer(client, 0, "dp-guess", accept="application/json").json()
    assert data["right"] is None
    assert "Noted." in data["feedback"]


@pytest.mark.parametrize(
    ("question", "choice"),
    [("dp-bytes", 9), ("dp-bytes", -1), ("dp-bytes", ""), ("dp-bytes", "x"), ("nope", 0), ("", 0)],
)
def test_an_answer_that_does_not_exist_is_one_clear_sentence(client, question, choice):
    response = answer(client, choice, question)
    assert response.status_code == 400
    assert "try again" in response.content.decode() or "Choose one" in response.content.decode()
    assert "error" in answer(client, choice, question, accept="application/json").json()
    assert not Answer.objects.exists()


def test_too_many_answers_are_slowed_down(client):
    codes = [answer(client).status_code for _ in range(62)]
    assert codes[0] == 302
    assert codes[-1] == 429


@pytest.mark.parametrize("path", ["answers/", "place/", "done/"])
def test_writing_needs_a_token_of_the_page(path):
    assert Client(enforce_csrf_checks=True).post(RING + path, {"anchor": "p-1"}).status_code == 403


def test_the_place_is_kept_and_offered(client):
    anchor = re.search(r'id="(p-[0-9a-f]+)"', client.get(RING).content.decode())[1]
    assert client.post(RING + "place/", {"anchor": anchor}).status_code == 204
    assert f'href="#{anchor}">Go on where you stopped' in client.get(RING).content.decode()


@pytest.mark.parametrize("anchor", ["", '"><script>', "a" * 99, "../x", "P 1"])
def test_a_place_that_no_page_makes_is_ignored(client, anchor):
    client.post(RING + "place/", {"anchor": anchor})
    assert not Reading.objects.exists()


def test_a_section_is_done_until_it_is_not(client):
    client.post(RING + "done/", {"done": "yes"})
    assert "You marked this section as done" in client.get(RING).content.decode()
    assert "✓ done" in client.get(CONTENTS).content.decode()
    first = Reading.objects.get().done_at
    client.post(RING + "done/", {"done": "yes"})
    assert Reading.objects.get().done_at == first
    client.post(RING + "done/", {"done": "no"})
    assert Reading.objects.get().done_at is None


def test_an_unchanged_page_is_not_sent_again_and_keeps_its_policy(client):
    client.get(RING)
    first = client.get(RING)
    again = client.get(RING, headers={"if-none-match": first["ETag"]})
    assert again.status_code == 304
    assert "Content-Security-Policy" in first
    # A new policy would replace the stored page's own and lock its scripts out.
    assert "Content-Security-Policy" not in again
    assert "private" in first["Cache-Control"]


@pytest.mark.parametrize(
    "change",
    [
        lambda c: answer(c),
        lambda c: c.post(RING + "done/", {"done": "yes"}),
        lambda c: c.post(SLOPE + "done/", {"done": "yes"}),
        lambda c: c.post(RING + "place/", {"anchor": "p-12345678"}),
        lambda c: c.cookies.__setitem__("theme", "dark"),
        lambda c: Section.objects.filter(slug="data").update(title="Another title"),
        lambda c: Section.objects.filter(slug="data-parallelism").update(content_hash="x"),
    ],
    ids=["answer", "done", "other section done", "place", "theme", "title", "text"],
)
def test_a_changed_page_is_sent_again(client, change):
    answer(client)
    tag = client.get(RING)["ETag"]
    assert client.get(RING)["ETag"] == tag
    change(client)
    assert client.get(RING, headers={"if-none-match": tag}).status_code == 200


def test_two_visitors_do_not_share_a_page(client):
    answer(client)
    assert client.get(RING)["ETag"] != Client().get(RING)["ETag"]


def test_sign_up_keeps_the_newer_place_and_what_either_did():
    here, there = Section.objects.filter(state=Section.State.PUBLISHED)
    visitor, account = Learner.objects.create(), Learner.objects.create()
    day = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    later = day + datetime.timedelta(days=1)
    Reading.objects.create(learner=account, section=here, anchor="p-old", read_at=day, done_at=day)
    Reading.objects.create(learner=visitor, section=here, anchor="p-new", read_at=later)
    Reading.objects.create(learner=visitor, section=there, anchor="p-x", read_at=day, done_at=later)
    services.answer(visitor, Section.objects.get(slug="data-parallelism"), "dp-bytes", 0)
    merge(visitor, account)
    kept = {r.section_id: (r.anchor, r.done_at) for r in Reading.objects.filter(learner=account)}
    assert kept == {here.pk: ("p-new", day), there.pk: ("p-x", later)}
    assert Answer.objects.get().learner == account
    assert not Learner.objects.filter(pk=visitor.pk).exists()


def test_everything_kept_about_a_learner_can_be_taken_away():
    learner = Learner.objects.create()
    section = Section.objects.get(slug="data-parallelism")
    services.answer(learner, section, "dp-bytes", 1)
    services.keep_place(learner, section, "p-12345678")
    data = selectors.export(learner)
    assert data["answers"][0]["question"] == "dp-bytes"
    assert data["readings"][0]["anchor"] == "p-12345678"
    overview = selectors.overview(learner)
    assert overview is not None
    assert overview.entries[0].url == f"{RING}#p-12345678"


def test_each_day_has_its_section_and_all_take_turns():
    days = [datetime.date(2026, 12, 1) + datetime.timedelta(days=d) for d in range(4)]
    shown = [selectors.today_section(day).url for day in days]
    assert shown[:2] == shown[2:]
    assert len(set(shown)) == 2
    assert selectors.today_section(days[0], "pretraining/data-parallelism").url == RING
    assert selectors.today_section(days[0], "pretraining/not-there") == selectors.today_section(days[0])


def test_nothing_is_promised_while_nothing_is_loaded():
    Section.objects.all().delete()
    assert selectors.today_section(datetime.date(2026, 12, 1)) is None
    assert selectors.published_names() == []


def test_the_problem_is_offered_only_when_it_can_be_solved(client):
    from problems.models import Problem

    assert "Solve the problem" not in client.get(SLOPE).content.decode()
    tag = client.get(SLOPE)["ETag"]
    Problem.objects.create(name="numericalgradient", title="Numerical Gradient", is_published=True)
    response = client.get(SLOPE, headers={"if-none-match": tag})
    assert response.status_code == 200
    page = response.content.decode()
    assert 'href="/problems/numericalgradient/">Solve the problem “Numerical Gradient”' in page
