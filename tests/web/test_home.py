from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from feeds.models import Post, Source
from pixelbank.chapters.services import load_content
from pixelbank.learners.models import Learner
from pixelbank.web.home import RUN, ago
from problems.services import load_content as load_problems
from training.forms import RunForm
from training.models import Run

pytestmark = pytest.mark.django_db


def page_of(client: Client) -> str:
    answer = client.get("/")
    assert answer.status_code == 200
    return answer.content.decode()


def finished_run() -> Run:
    return Run.objects.create(
        learner=Learner.objects.create(),
        state=Run.State.DONE,
        config={"ranks": 2, "steps": 3, "model": "nano"},
        points=[[1, 4.17], [2, 3.5], [3, 3.01]],
        finished_at=timezone.now(),
    )


def test_an_empty_site_says_what_is_missing_and_still_lets_one_train(client: Client) -> None:
    page = page_of(client)
    assert "chapter is being loaded" in page
    assert "first feeds are being fetched" in page
    assert 'action="/lab/runs/"' in page


def test_the_loaded_chapter_is_a_strip_of_its_sections(client: Client) -> None:
    load_content()
    page = page_of(client)
    assert len(re.findall(r'class="pixel', page)) == 23
    readable = re.findall(r'class="pixel" href="(/learn/pretraining/[\w-]+/)"', page)
    assert "/learn/pretraining/data-parallelism/" in readable
    assert all(client.get(address).status_code == 200 for address in readable)


def test_todays_topic_has_its_question_and_its_computed_picture(client: Client) -> None:
    load_content()
    section = page_of(client).partition("Today’s topic")[2].partition("</section>")[0]
    assert re.search(r'<h2 id="topic"><a href="/learn/pretraining/[\w-]+/">', section)
    assert "<svg" in section


def test_todays_problem_can_be_opened_and_shows_the_real_error_curve(client: Client) -> None:
    load_problems()
    section = page_of(client).partition("Today’s problem")[2].partition("</section>")[0]
    assert "the forward difference is best near" in section
    (address,) = set(re.findall(r'href="(/problems/[\w-]+/)"', section))
    assert client.get(address).status_code == 200


def test_the_newest_posts_stand_on_the_page_with_their_source(client: Client) -> None:
    source = Source.objects.create(slug="gradient-notes", name="Gradient <Notes>", url="https://notes.example/feed")
    for n in range(9):
        Post.objects.create(
            source=source, title=f"Post <{n}>", sort_at=timezone.now() - timedelta(days=n), content_key=f"{n}"
        )
    Post.objects.create(source=source, title="Hidden", sort_at=timezone.now(), content_key="hidden", hidden=True)
    section = page_of(client).partition("New in the feed")[2].partition("</section>")[0]
    assert re.findall(r">Post &lt;(\d)&gt;<", section) == ["0", "1", "2", "3", "4", "5"]
    assert "Gradient &lt;Notes&gt;" in section
    assert "just now" in section
    assert "Hidden" not in section


def test_a_finished_run_is_shown_with_its_real_curve(client: Client) -> None:
    run = finished_run()
    page = page_of(client)
    assert "The loss went from 4.17 at step 1 to 3.01 at step 3." in page
    assert run.get_absolute_url() in page


def test_the_button_posts_what_the_lab_accepts(client: Client) -> None:
    form = page_of(client).partition('action="/lab/runs/"')[2].partition("</form>")[0]
    sent = dict(re.findall(r'type="hidden" name="(\w+)" value="(\w+)"', form))
    sent.pop("csrfmiddlewaretoken")
    assert sent.keys() == RUN.keys() | {"seed"}
    assert RunForm(sent).is_valid()


def test_a_visitor_with_a_run_is_led_to_it(client: Client) -> None:
    client.post("/lab/runs/", {**RUN, "seed": 1})
    run = Run.objects.get()
    page = page_of(client)
    assert f'href="{run.get_absolute_url()}"' in page
    assert "Start a run" not in page


def test_the_page_asks_little_of_the_database(client: Client, django_assert_max_num_queries: object) -> None:
    load_content()
    finished_run()
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        page_of(client)


@pytest.mark.parametrize("address", ["/", "/about/", "/robots.txt"])
def test_pages_of_no_room_are_read_only(client: Client, address: str) -> None:
    assert client.head(address).status_code == 200
    assert client.post(address).status_code == 405


def test_reading_sets_no_learner_and_no_session(client: Client) -> None:
    answer = client.get("/about/")
    assert answer.cookies == {}
    assert Learner.objects.count() == 0


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(hours=-3), "just now"),
        (timedelta(seconds=60), "1\xa0minute ago"),
        (timedelta(days=15, hours=3), "2\xa0weeks ago"),
    ],
)
def test_times_are_said_in_one_unit(passed: timedelta, words: str) -> None:
    assert ago(timezone.now() - passed) == words
