"""The editors' pages."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model
from django.core.checks import run_checks
from django.test import Client
from django.utils import timezone

from feeds import services
from feeds.models import FetchLog, Post, Source, key_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def editor(client: Client) -> Client:
    user = get_user_model().objects.create_superuser(email="ed@pixelbank.example", password="x")
    client.force_login(user)
    return client


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    found: list[int] = []
    monkeypatch.setattr(services, "_send", lambda pk: found.append(pk) or True)
    return found


def form(**fields: str) -> dict[str, str]:
    return {
        "name": "Lab",
        "slug": "lab",
        "kind": "feed",
        "url": "https://lab.example/feed",
        "site_url": "",
        "note": "",
    } | fields


def test_a_new_source_is_fetched_at_once(
    editor: Client, sent: list[int], django_capture_on_commit_callbacks: object
) -> None:
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        response = editor.post("/admin/feeds/source/add/", form(), follow=True)
    source = Source.objects.get()
    assert "Lab is being fetched" in response.content.decode()
    assert sent == [source.pk]
    assert source.state == Source.State.UNVERIFIED


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://lab.example/feed", "Only http and https"),
        ("https://lab.example:8080/feed", "80 and 443"),
        ("https://a:b@lab.example/feed", "user name or password"),
        ("no address", "Enter a valid URL"),
        ("https://taken.example/feed", "already read, as &quot;Taken&quot;"),
    ],
)
def test_a_bad_address_is_named_with_what_to_do(editor: Client, url: str, said: str) -> None:
    Source.objects.create(slug="taken", name="Taken", url="https://taken.example/feed")
    html = editor.post("/admin/feeds/source/add/", form(url=url)).content.decode()
    assert said in html
    assert Source.objects.count() == 1


def test_a_new_address_forgets_the_old_ones_validators(editor: Client, sent: list[int]) -> None:
    source = Source.objects.create(
        slug="lab", name="Lab", url="https://lab.example/old", etag='"x"', full_fetch_at=timezone.now()
    )
    editor.post(f"/admin/feeds/source/{source.pk}/change/", form())
    source.refresh_from_db()
    assert (source.url, source.etag, source.full_fetch_at) == ("https://lab.example/feed", "", None)


def test_fetch_now_and_pause(editor: Client, sent: list[int], django_capture_on_commit_callbacks: object) -> None:
    feed = Source.objects.create(slug="a", name="A", url="https://a.example/", state=Source.State.PAUSED)
    sitemap = Source.objects.create(slug="b", name="B", url="https://b.example/", kind=Source.Kind.SITEMAP)
    chosen = {"_selected_action": [feed.pk, sitemap.pk]}
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        html = editor.post("/admin/feeds/source/", chosen | {"action": "fetch_now"}, follow=True).content.decode()
    assert sent == [feed.pk]
    assert "1 sources are no feeds" in html
    feed.refresh_from_db()
    assert feed.state == Source.State.UNVERIFIED
    editor.post("/admin/feeds/source/", chosen | {"action": "pause"})
    feed.refresh_from_db()
    assert (feed.state, feed.next_poll_at) == (Source.State.PAUSED, None)


def test_posts_are_hidden_and_pinned_but_not_made(editor: Client) -> None:
    source = Source.objects.create(slug="a", name="A", url="https://a.example/")
    post = Post.objects.create(source=source, title="P", content_key=key_of("p"), sort_at=timezone.now())
    for action, field, value in (("hide", "hidden", True), ("show", "hidden", False), ("pin", "pinned", True)):
        editor.post("/admin/feeds/post/", {"_selected_action": [post.pk], "action": action})
        post.refresh_from_db()
        assert getattr(post, field) is value
    assert editor.get("/admin/feeds/post/add/").status_code == 403


def test_every_admin_page_opens_and_shows_health(editor: Client) -> None:
    source = Source.objects.create(slug="a", name="A", url="https://a.example/", problem="The server <b>died</b>.")
    FetchLog.objects.create(
        source=source, outcome=FetchLog.Outcome.FAILED, status=500, detail="The server <b>died</b>."
    )
    post = Post.objects.create(source=source, title="P", content_key=key_of("p"), sort_at=timezone.now())
    pages = [f"/admin/feeds/{name}/" for name in ("source", "post", "fetchlog")]
    pages += [f"/admin/feeds/source/{source.pk}/change/", f"/admin/feeds/post/{post.pk}/change/"]
    for page in pages:
        response = editor.get(page)
        assert response.status_code == 200
        assert "<b>died" not in response.content.decode()
    html = editor.get(f"/admin/feeds/source/{source.pk}/change/").content.decode()
    assert "failed 500 (0 new)" in html


def test_production_refuses_the_hole_for_tests(settings: object) -> None:
    settings.PRODUCTION = True  # type: ignore[attr-defined]
    settings.FETCH_ALLOW_LOOPBACK_PORTS = [8000]  # type: ignore[attr-defined]
    assert "feeds.E001" in {message.id for message in run_checks(tags=["security"])}
    settings.FETCH_ALLOW_LOOPBACK_PORTS = []  # type: ignore[attr-defined]
    assert "feeds.E001" not in {message.id for message in run_checks(tags=["security"])}
