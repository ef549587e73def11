"""The samples: true figures, valid feeds, and the whole way from the loopback server into the list."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from feeds import services
from feeds.models import Post, Source, Topic
from feeds.pipeline import parse
from feeds.samples import AUTHOR, SAMPLES, Sample, SamplePost, posts_of
from feeds.samples.documents import document
from pixelbank.core import fetch
from tests.conftest import ROOT

NOW = datetime.now(UTC)
ALL = [pytest.param(post, id=post.slug) for sample in SAMPLES for post in posts_of(sample)]
CODE = re.compile(r"^```python\n(.*?)^```", re.S | re.M)


def test_there_are_about_thirty_posts_and_every_format() -> None:
    assert len(ALL) >= 30
    assert {sample.format for sample in SAMPLES} == {"rss", "atom", "json"}


@pytest.mark.parametrize("post", ALL)
def test_the_figures_in_a_sample_are_right(post: SamplePost) -> None:
    blocks = CODE.findall(post.markdown)
    assert any("assert" in block for block in blocks)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, post.slug, "exec"), names)  # noqa: S102 - our own text


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.slug)
def test_a_sample_feed_is_read_without_a_warning(sample: Sample) -> None:
    feed = parse(document(sample, NOW))
    assert feed.warnings == ()
    assert feed.title == sample.name
    assert feed.format == {"rss": "rss20", "atom": "atom10", "json": "json1.1"}[sample.format]
    posts = posts_of(sample)
    assert [entry.title for entry in feed.entries] == [post.title for post in posts]
    for entry, post in zip(feed.entries, posts, strict=True):
        assert entry.authors == (AUTHOR,)
        assert entry.published == post.published(NOW)
        assert NOW - timedelta(days=9) < entry.published < NOW
        assert "<pre><code" in (entry.content_html or "")
        assert entry.summary


@pytest.fixture
def sample_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The real server in its own process; its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "feeds.sampleserver", "--port", "0"], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    said = process.stdout.readline()
    port = said.rsplit(":", 1)[1].strip(" /\n")
    monkeypatch.setenv("PIXELBANK_SAMPLE_FEED_PORT", port)
    monkeypatch.setenv("FETCH_ALLOW_LOOPBACK_PORTS", port)
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    assert process.wait(10) == 0
    process.stdout.close()


@pytest.mark.django_db
def test_the_first_run_fills_the_list_through_the_whole_way(sample_server: str) -> None:
    assert "5 sample sources" in services.load_content()
    samples = Source.objects.filter(is_sample=True)
    for source in samples:
        line = services.refresh_source(source.pk)
        assert line is not None
        assert (line.status, line.new_posts, line.warnings) == (200, 6, [])
    for source in samples:
        line = services.refresh_source(source.pk)
        assert line is not None
        assert (line.status, line.new_posts) == (304, 0)
    assert Post.objects.count() == 30
    assert {post.authors[0] for post in Post.objects.all()} == {AUTHOR}
    for topic in Topic.objects.all():
        assert topic.posts.count() >= 5, topic.slug


def test_the_sample_server_knows_only_its_feeds(sample_server: str) -> None:
    assert fetch.get(f"{sample_server}/../../etc/passwd").status == 404
    assert fetch.get(f"{sample_server}/").status == 404


@pytest.mark.django_db
def test_load_content_twice_changes_nothing_and_keeps_editors_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIXELBANK_SAMPLE_FEED_PORT", raising=False)
    assert services.load_content().startswith("35 sources added")
    source = Source.objects.get(slug="hugging-face")
    assert (source.state, source.next_poll_at, source.verified_at) == (Source.State.UNVERIFIED, None, None)
    Source.objects.filter(slug="hugging-face").update(name="HF", state=Source.State.PAUSED)
    assert services.load_content().startswith("0 sources added")
    source.refresh_from_db()
    assert (source.name, source.state) == ("HF", Source.State.PAUSED)
    assert not Source.objects.filter(is_sample=True).exists()
    assert Source.objects.filter(kind=Source.Kind.SITEMAP).count() == 4


@pytest.mark.django_db
def test_samples_rest_where_no_sample_server_runs(sample_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    services.load_content()
    monkeypatch.delenv("PIXELBANK_SAMPLE_FEED_PORT")
    assert "0 sample sources" in services.load_content()
    assert services.poll_due() == 0
