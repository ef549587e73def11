"""The daily post: rendering on save, pages, feed, and what stands on the home page."""

from __future__ import annotations

import datetime
import shutil
import xml.etree.ElementTree as ET

import pytest
import time_machine
from django.core.exceptions import ValidationError

from pixelbank.blog import selectors, services
from pixelbank.blog.admin import DailyPostForm
from pixelbank.blog.models import DailyPost
from pixelbank.core.markdown import MarkdownError

ATOM = "{http://www.w3.org/2005/Atom}"
DAY = datetime.date(2026, 12, 1)

pytestmark = pytest.mark.django_db


def post(day=DAY, text="Some *text* and a [link](/lab/).", **more):
    new = DailyPost(date=day, title="A title", summary="A summary.", text=text, **more)
    services.publish(new)
    return new


@pytest.fixture(autouse=True)
def on_the_day():
    with time_machine.travel(datetime.datetime(2026, 12, 1, 12, tzinfo=datetime.UTC), tick=False):
        yield


def test_shipped_posts_are_loaded_once_and_an_edited_one_is_left_alone():
    services.load_content()
    first = DailyPost.objects.get()
    assert "<math" in first.html
    first.title = "Edited"
    services.publish(first)
    assert "(0 added)" in services.load_content()
    assert DailyPost.objects.get().title == "Edited"


def test_text_is_rendered_when_it_is_saved():
    assert post().html == '<p>Some <em>text</em> and a <a href="/lab/">link</a>.</p>\n'


def test_a_text_that_cannot_be_read_is_not_saved():
    with pytest.raises(MarkdownError, match="unknown container"):
        post(text="::: pb-nonsense\n:::")
    assert not DailyPost.objects.exists()


def test_an_administrators_script_does_not_reach_a_reader(client):
    post(text="<script>alert(1)</script> [x](javascript:alert(1))")
    page = client.get("/blog/2026-12-01/").content.decode()
    assert "<script>alert" not in page
    assert 'href="javascript' not in page


@pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed; ./dev setup installs it")
def test_a_new_formula_is_rendered_on_save():
    assert "<mfrac>" in post(text="$\\frac{a}{b+17}$").html


def test_the_form_says_what_is_wrong_before_anything_is_saved():
    data = {"date": "2026-12-01", "title": "A", "summary": "B", "text": "::: pb-nonsense\n:::", "section": "no slash"}
    form = DailyPostForm(data)
    assert not form.is_valid()
    assert "unknown container" in form.errors["text"][0]
    assert "chapter/section" in form.errors["section"][0]


def test_one_post_a_day():
    post()
    with pytest.raises(ValidationError):
        DailyPost(date=DAY, title="B", summary="C", text="D").full_clean()


def test_the_list_shows_the_newest_first_and_no_future(client):
    post(datetime.date(2026, 11, 29), section="pretraining/data-parallelism", problem="numericalgradient")
    post()
    post(datetime.date(2026, 12, 2))
    page = client.get("/blog/").content.decode()
    assert page.index("/blog/2026-12-01/") < page.index("/blog/2026-11-29/")
    assert "/blog/2026-12-02/" not in page
    assert client.get("/blog/2026-12-02/").status_code == 404
    old = client.get("/blog/2026-11-29/").content.decode()
    assert 'href="/learn/pretraining/data-parallelism/"' in old
    assert 'href="/problems/numericalgradient/"' in old


@pytest.mark.parametrize("day", ["2026-13-01", "yesterday", "2026-12-05"])
def test_a_day_without_a_post_is_not_found(client, day):
    assert client.get(f"/blog/{day}/").status_code == 404


def test_without_posts_the_list_says_so(client):
    assert "No post yet" in client.get("/blog/").content.decode()


def test_the_feed_is_atom_with_whole_texts_and_full_addresses(client):
    post()
    response = client.get("/blog/feed.xml")
    assert response["Content-Type"].startswith("application/atom+xml")
    entry = ET.fromstring(response.content).find(f"{ATOM}entry")
    assert entry is not None
    assert entry.findtext(f"{ATOM}title") == "A title"
    assert '<a href="http://testserver/lab/">' in entry.findtext(f"{ATOM}summary", "")
    assert entry.find(f"{ATOM}link").attrib["href"] == "http://testserver/blog/2026-12-01/"
    assert entry.findtext(f"{ATOM}published", "").startswith("2026-12-01")


def test_todays_post_decides_about_the_home_page():
    written = post(section="a/two", problem="y")
    today = selectors.today(["a/one", "a/two"], ["x", "y", "z"])
    assert (today.section, today.problem, today.post) == ("a/two", "y", written)


def test_without_a_post_everything_takes_turns():
    days = [DAY + datetime.timedelta(days=d) for d in range(6)]
    shown = [selectors.today(["a/one", "a/two"], ["x", "y", "z"], day) for day in days]
    assert {t.section for t in shown} == {"a/one", "a/two"}
    assert [t.problem for t in shown[:3]] == [t.problem for t in shown[3:]]
    assert len({t.problem for t in shown}) == 3
    assert all(t.post is None for t in shown)


def test_a_post_about_something_unpublished_falls_back_to_turns():
    post(section="a/planned")
    assert selectors.today(["a/one"], []).section == "a/one"
    assert selectors.today([], []).problem == ""
