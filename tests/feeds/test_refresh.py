"""Fetching and storing: what a source's row, its posts and its log say after each kind of answer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from django.utils import timezone

from feeds import polling, services
from feeds.models import Appearance, FetchLog, Post, Source, Topic
from pixelbank.core import fetch
from tests.feeds.serving import Publisher, Reply, item, rss

pytestmark = pytest.mark.django_db
CASES = Path(__file__).parent / "cases"


def source_at(url: str, slug: str = "lab", **fields: object) -> Source:
    return Source.objects.create(slug=slug, name=slug.title(), url=url, site_url="https://lab.example/", **fields)


def refreshed(source: Source) -> FetchLog:
    line = services.refresh_source(source.pk)
    assert line is not None
    source.refresh_from_db()
    return line


def sent(publisher: Publisher, number: int = -1) -> tuple[str | None, str | None]:
    headers = publisher.requests[number][1]
    return headers["If-None-Match"], headers["If-Modified-Since"]


# --- What is stored ------------------------------------------------------------------------------------------------


def test_a_first_fetch_stores_posts_and_verifies_the_source(publisher: Publisher) -> None:
    Topic.objects.create(slug="llm", name="Large language models")
    text = "&lt;p&gt;About &lt;b&gt;tokens&lt;/b&gt;.&lt;script&gt;1&lt;/script&gt;&lt;/p&gt;"
    publisher.says(Reply(rss(item(1, text, title="A language model"), item(2))))
    source = source_at(publisher.url)
    line = refreshed(source)
    assert (line.outcome, line.status, line.new_posts, line.changed_posts) == (FetchLog.Outcome.NEW, 200, 2, 0)
    assert line.wire_bytes > 300
    assert source.state == Source.State.OK
    assert source.verified_at is not None
    assert source.format == "RSS 2.0"
    assert source.claimed_until is None
    wait = source.next_poll_at - timezone.now()
    assert polling.INTERVAL * 0.99 < wait <= polling.INTERVAL * 1.1
    post = Post.objects.get(title="A language model")
    assert (post.summary, post.content_html) == ("About tokens.", "<p>About <b>tokens</b>.</p>")
    assert [topic.slug for topic in post.topics.all()] == ["llm"]
    assert post.topic_reasons == {"llm": 'the title says "language model"'}
    assert post.sort_at == post.published_at


def test_the_same_document_again_changes_nothing(publisher: Publisher) -> None:
    publisher.says(Reply(rss(*(item(n, f"text {n}") for n in range(30)))))
    source = source_at(publisher.url)
    refreshed(source)
    before = list(Post.objects.order_by("pk").values())
    line = refreshed(source)
    assert (line.outcome, line.new_posts, line.changed_posts) == (FetchLog.Outcome.UNCHANGED, 0, 0)
    assert list(Post.objects.order_by("pk").values()) == before
    assert Appearance.objects.count() == 30


def test_an_edit_is_taken_over_and_dates_stay(publisher: Publisher) -> None:
    publisher.says(
        Reply(rss(item(1, "old"))), Reply(rss(item(1, "new", title="Better", pubDate="Tue, 06 Jan 2026 00:00:00 GMT")))
    )
    source = source_at(publisher.url)
    refreshed(source)
    first = Post.objects.get()
    line = refreshed(source)
    post = Post.objects.get()
    assert (line.new_posts, line.changed_posts) == (0, 1)
    assert (post.pk, post.title, post.summary, post.published_at) == (first.pk, "Better", "new", first.published_at)
    assert post.changed_at is not None


def test_an_undated_post_is_sorted_by_when_it_was_first_seen(publisher: Publisher) -> None:
    publisher.says(Reply(rss(item(1, pubDate="2025-02-30"))))
    refreshed(source_at(publisher.url))
    post = Post.objects.get()
    assert post.published_at is None
    assert post.sort_at == post.first_seen_at


def test_a_post_without_a_safe_link_has_none(publisher: Publisher) -> None:
    publisher.says(Reply(rss(item(1, link="javascript:alert(1)"))))
    refreshed(source_at(publisher.url))
    assert Post.objects.get().url == ""


@pytest.mark.parametrize(
    ("case", "polls", "posts"),
    [
        ("c05_guid_format_change", ["poll1", "poll2"], 1),
        ("c27_pubdate_churn", ["poll1", "poll2"], 1),
        ("c04_same_guid", ["", ""], 3),
        ("c08_empty_guid", ["", ""], 2),
    ],
)
def test_polls_of_a_made_case(case: str, polls: list[str], posts: int, publisher: Publisher) -> None:
    names = [f"{case}_{poll}.xml" if poll else f"{case}.xml" for poll in polls]
    publisher.says(*(Reply((CASES / name).read_bytes()) for name in names))
    source = source_at(publisher.url)
    assert refreshed(source).new_posts == posts
    published = list(Post.objects.values_list("published_at", flat=True))
    assert refreshed(source).new_posts == 0
    assert list(Post.objects.values_list("published_at", flat=True)) == published
    assert Post.objects.count() == posts


@pytest.mark.parametrize("order", [("A", "B"), ("B", "A")])
def test_one_article_through_two_feeds_is_one_post_of_its_publisher(
    order: tuple[str, str], publisher: Publisher
) -> None:
    documents = {name: (CASES / f"c32_cross_feed_feed{name}.xml").read_bytes() for name in "AB"}
    publisher.answer = lambda path, headers: Reply(documents[path.strip("/")])
    own = source_at(f"{publisher.url}/A", "own")
    aggregator = source_at(f"{publisher.url}/B", "aggregator")
    Source.objects.filter(pk=aggregator.pk).update(site_url="https://agg.example/")
    for name in order:
        refreshed({"A": own, "B": aggregator}[name])
    post = Post.objects.get()
    assert (post.source, post.title) == (own, "Attention")
    assert post.appearances.count() == 2


def test_entries_that_swap_their_guids_and_links_never_clash(publisher: Publisher) -> None:
    publisher.says(
        Reply(rss(item(1), item(2))),
        Reply(rss(item(1, guid="urn:p2"), item(2, guid="urn:p1"))),
        Reply(rss(item(1, link="https://lab.example/p2"), item(2, link="https://lab.example/p1"))),
    )
    source = source_at(publisher.url)
    for _ in range(3):
        refreshed(source)
    assert Post.objects.count() == 2


# --- Validators ----------------------------------------------------------------------------------------------------

BODY = rss(item(1))
DAY = "Mon, 05 Jan 2026 10:00:00 GMT"


def test_both_validators_of_the_last_200_are_sent_and_survive_an_empty_304(publisher: Publisher) -> None:
    publisher.says(
        Reply(BODY, headers={"ETag": '"a1"', "Last-Modified": DAY}),
        Reply(rss(item(1), item(2)), headers={"ETag": '"a2"', "Last-Modified": DAY}),
        Reply(status=304),
        Reply(status=304, headers={"ETag": '"a3"'}),
        Reply(status=304),
    )
    source = source_at(publisher.url)
    outcomes = [refreshed(source).outcome for _ in range(5)]
    assert sent(publisher, 0) == (None, None)
    assert sent(publisher, 1) == ('"a1"', DAY)
    assert sent(publisher, 2) == ('"a2"', DAY)
    assert sent(publisher, 3) == ('"a2"', DAY)
    assert sent(publisher, 4) == ('"a3"', DAY)
    assert outcomes[2:] == [FetchLog.Outcome.NOT_MODIFIED] * 3
    assert source.state == Source.State.OK


def test_an_equal_body_still_brings_new_validators(publisher: Publisher) -> None:
    publisher.says(Reply(BODY, headers={"ETag": '"b1"'}), Reply(BODY, headers={"ETag": '"b2"'}), Reply(status=304))
    source = source_at(publisher.url)
    for _ in range(3):
        refreshed(source)
    assert sent(publisher) == ('"b2"', None)


def test_a_document_that_cannot_be_read_does_not_hide_behind_its_validators(publisher: Publisher) -> None:
    publisher.says(Reply(b"<html></html>", headers={"ETag": '"broken"'}), Reply(BODY))
    source = source_at(publisher.url)
    line = refreshed(source)
    assert line.outcome == FetchLog.Outcome.FAILED
    assert "web page" in source.problem
    refreshed(source)
    assert sent(publisher) == (None, None)
    assert (source.state, source.problem, source.failures) == (Source.State.OK, "", 0)


def test_once_a_week_the_whole_document_is_asked_for(publisher: Publisher) -> None:
    publisher.says(Reply(BODY, headers={"ETag": '"a1"'}))
    source = source_at(publisher.url)
    refreshed(source)
    refreshed(source)
    assert sent(publisher) == ('"a1"', None)
    Source.objects.update(full_fetch_at=timezone.now() - timedelta(days=8))
    refreshed(source)
    assert sent(publisher) == (None, None)
    refreshed(source)
    assert sent(publisher) == ('"a1"', None)


# --- Failures ------------------------------------------------------------------------------------------------------


def test_429_is_no_strike_and_its_wish_is_kept(publisher: Publisher) -> None:
    publisher.says(Reply(BODY), Reply(status=429, headers={"Retry-After": "7200"}))
    source = source_at(publisher.url)
    refreshed(source)
    refreshed(source)
    assert (source.state, source.failures) == (Source.State.OK, 0)
    assert source.next_poll_at >= timezone.now() + timedelta(seconds=7190)
    assert "patience" in source.problem


def test_retry_after_as_a_date(publisher: Publisher) -> None:
    until = (timezone.now() + timedelta(hours=30)).replace(microsecond=0)
    publisher.says(Reply(status=503, headers={"Retry-After": until.strftime("%a, %d %b %Y %H:%M:%S GMT")}))
    source = source_at(publisher.url)
    refreshed(source)
    assert source.next_poll_at >= until - timedelta(seconds=1)
    assert source.failures == 1


def test_failures_back_off_and_are_named(publisher: Publisher) -> None:
    publisher.says(Reply(BODY), Reply(status=500))
    source = source_at(publisher.url)
    refreshed(source)
    states, waits = [], []
    for _ in range(4):
        refreshed(source)
        states.append(source.state)
        waits.append((source.next_poll_at - source.last_fetch_at) / timedelta(minutes=1))
    assert states == [Source.State.DEGRADED] * 2 + [Source.State.FAILING] * 2
    for wait, least in zip(waits, (15, 30, 60, 120), strict=True):
        assert least <= wait <= least * 1.11
    assert source.problem == "The server answered with status 500."
    assert Post.objects.count() == 1


def test_a_new_source_stays_unverified_while_it_fails(publisher: Publisher) -> None:
    source = source_at(publisher.url)
    refreshed(source)
    assert (source.state, source.last_status) == (Source.State.UNVERIFIED, 404)


def test_gone_twice_a_day_apart_stops_polling_and_keeps_the_posts(publisher: Publisher) -> None:
    publisher.says(Reply(BODY), Reply(status=410))
    source = source_at(publisher.url)
    refreshed(source)
    refreshed(source)
    assert source.state == Source.State.DEGRADED
    with time_machine.travel(timezone.now() + timedelta(hours=23), tick=True):
        refreshed(source)
    assert source.state == Source.State.DEGRADED
    with time_machine.travel(timezone.now() + timedelta(hours=25), tick=True):
        refreshed(source)
        assert source.state == Source.State.GONE
        asked = len(publisher.requests)
        assert services.refresh_source(source.pk) is None
        Source.objects.update(next_poll_at=timezone.now() - timedelta(hours=1))
        assert services.poll_due() == 0
    assert len(publisher.requests) == asked
    assert Post.objects.count() == 1


def test_an_address_inside_is_refused_and_said() -> None:
    source = source_at("http://127.0.0.1:9/feed")
    line = refreshed(source)
    assert line.outcome == FetchLog.Outcome.FAILED
    assert "80 and 443" in source.problem


# --- Claims and death ----------------------------------------------------------------------------------------------


def test_a_source_that_another_worker_fetches_is_left_alone(publisher: Publisher) -> None:
    source = source_at(publisher.url, claimed_until=timezone.now() + timedelta(minutes=1))
    assert services.refresh_source(source.pk) is None
    assert publisher.requests == []


@pytest.mark.parametrize("state", [Source.State.PAUSED, Source.State.GONE])
def test_a_source_at_rest_is_left_alone(state: str, publisher: Publisher) -> None:
    assert services.refresh_source(source_at(publisher.url, state=state).pk) is None


@pytest.mark.parametrize("kind", [Source.Kind.SITEMAP, Source.Kind.MANUAL])
def test_kinds_without_a_fetcher_are_left_alone(kind: str, publisher: Publisher) -> None:
    source = source_at(publisher.url, kind=kind)
    assert services.refresh_source(source.pk) is None
    assert not services.request_fetch(source)


class Killed(BaseException):
    """Stands for the end of the process: nothing catches it."""


@pytest.mark.parametrize("step", range(1, 6))
def test_death_in_the_middle_of_storing_leaves_nothing_and_loses_nothing(
    step: int, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    publisher.says(Reply(rss(*(item(n) for n in range(5))), headers={"ETag": '"a1"'}))
    source = source_at(publisher.url)
    writes = 0
    save = Post.save

    def dying(self: Post, *args: object, **kwargs: object) -> None:
        nonlocal writes
        writes += 1
        if writes == step:
            raise Killed
        save(self, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(Post, "save", dying)
    with pytest.raises(Killed):
        services.refresh_source(source.pk)
    assert Post.objects.count() == 0
    assert FetchLog.objects.count() == 0
    source.refresh_from_db()
    assert source.etag == ""

    monkeypatch.setattr(Post, "save", save)
    assert services.refresh_source(source.pk) is None  # the dead worker's claim still holds
    assert services.sweep() == 0
    with time_machine.travel(timezone.now() + services.LEASE + timedelta(seconds=1), tick=True):
        assert services.sweep() == 1
        assert refreshed(source).new_posts == 5
    assert Post.objects.count() == 5
    assert Appearance.objects.count() == 5


def test_a_worker_that_lost_its_claim_writes_nothing(publisher: Publisher, monkeypatch: pytest.MonkeyPatch) -> None:
    publisher.says(Reply(BODY))
    source = source_at(publisher.url)
    real = fetch.get

    def slow(url: str, **options: object) -> fetch.Fetched:
        reply = real(url, **options)  # type: ignore[arg-type]
        Source.objects.filter(pk=source.pk).update(claimed_until=timezone.now() - timedelta(seconds=1))
        assert services.sweep() == 1
        return reply

    monkeypatch.setattr(fetch, "get", slow)
    assert services.refresh_source(source.pk) is None
    assert Post.objects.count() == 0
    assert FetchLog.objects.count() == 0


# --- Scheduling ----------------------------------------------------------------------------------------------------


def test_poll_due_sends_each_due_source_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now = timezone.now()
    due = source_at("https://lab.example/a", "due", next_poll_at=now - timedelta(minutes=1))
    sample = source_at("https://lab.example/b", "sample", next_poll_at=now, is_sample=True)
    source_at("https://lab.example/c", "later", next_poll_at=now + timedelta(minutes=5))
    source_at("https://lab.example/d", "never")
    source_at("https://lab.example/e", "paused", next_poll_at=now, state=Source.State.PAUSED)
    sent_to: list[int] = []
    monkeypatch.setattr(services, "_send", lambda pk: sent_to.append(pk) or True)
    assert services.poll_due() == 2
    assert sent_to == [sample.pk, due.pk]
    assert services.poll_due() == 0


def test_without_a_broker_a_due_source_stays_due(monkeypatch: pytest.MonkeyPatch) -> None:
    source_at("https://lab.example/a", next_poll_at=timezone.now())
    monkeypatch.setattr(services, "_send", lambda pk: False)
    assert services.poll_due() == 0
    monkeypatch.setattr(services, "_send", lambda pk: True)
    assert services.poll_due() == 1


def test_asking_for_a_fetch_revives_a_gone_source() -> None:
    source = source_at("https://lab.example/a", state=Source.State.GONE, failures=9, gone_since=timezone.now())
    assert services.request_fetch(source)
    source.refresh_from_db()
    assert (source.state, source.failures, source.gone_since) == (Source.State.UNVERIFIED, 0, None)
    assert source.next_poll_at is not None


def test_sweep_drops_old_log_lines() -> None:
    source = source_at("https://lab.example/a")
    for days in (1, 40):
        FetchLog.objects.create(source=source, outcome="new", at=timezone.now() - timedelta(days=days))
    services.sweep()
    assert FetchLog.objects.count() == 1


NOW = datetime(2026, 1, 6, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("120", timedelta(minutes=2)),
        (" 0 ", timedelta(0)),
        ("99999999999999", timedelta(days=7)),
        ("Wed, 07 Jan 2026 10:00:00 GMT", timedelta(days=1)),
        ("Mon, 05 Jan 2026 10:00:00 GMT", timedelta(0)),
        ("soon", None),
        ("-5", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after(value: str | None, wait: timedelta | None) -> None:
    assert polling.retry_after(value, NOW) == wait


def test_back_off_doubles_up_to_a_day() -> None:
    minutes = [polling.back_off(n) / timedelta(minutes=1) for n in (1, 2, 3, 7, 8, 99)]
    assert minutes == [15, 30, 60, 960, 1440, 1440]
