"""The pages: what visitors see, how many queries it costs, and that nothing of a stranger gets out unescaped."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from html.parser import HTMLParser

import pytest
from django.test import Client
from django.utils import timezone

from feeds import selectors
from feeds.models import Post, Source, Topic, key_of
from feeds.templatetags.feed import fulltext
from feeds.views import by_day, name_of_day

pytestmark = pytest.mark.django_db


@pytest.fixture
def source() -> Source:
    return Source.objects.create(
        slug="lab", name="The Lab", url="https://lab.example/feed", note="A made source.", state=Source.State.OK
    )


@pytest.fixture
def llm() -> Topic:
    return Topic.objects.create(slug="llm", name="Large language models")


def make_post(source: Source, number: int = 1, *topics: Topic, **fields: object) -> Post:
    facts = {
        "title": f"Post {number}",
        "summary": f"Summary {number}.",
        "url": f"https://lab.example/p{number}",
        "content_key": key_of(str(number)),
        "words": 440,
        "published_at": timezone.now() - timedelta(hours=number),
    } | fields
    moment = facts["published_at"] or timezone.now()
    post = Post.objects.create(source=source, sort_at=moment, topic_reasons={"llm": 'the title says "LLM"'}, **facts)
    post.topics.set(topics)
    return post


def shown(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return response.content.decode()


class Links(HTMLParser):
    """All links of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[dict[str, str | None]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.found.append(dict(attrs))


# --- The list ------------------------------------------------------------------------------------------------------


def test_a_post_shows_source_time_reason_and_links_to_its_page(client: Client, source: Source, llm: Topic) -> None:
    post = make_post(source, 1, llm)
    html = shown(client, "/feed/")
    assert "The Lab" in html
    assert "2 min read" in html
    assert "the title says &quot;LLM&quot;" in html
    assert f'href="/feed/{post.pk}/"' in html
    assert "Summary 1." in html


def test_a_full_list_costs_at_most_8_queries(
    client: Client, source: Source, llm: Topic, django_assert_max_num_queries: object
) -> None:
    others = [Source.objects.create(slug=f"s{n}", name=f"S{n}", url=f"https://s{n}.example/") for n in range(10)]
    for number in range(45):
        make_post([source, *others][number % 11], number, llm)
    for path in ("/feed/", "/feed/?topic=llm&source=lab", "/feed/?page=2"):
        with django_assert_max_num_queries(8):  # type: ignore[operator]
            shown(client, path)
    with django_assert_max_num_queries(8):  # type: ignore[operator]
        shown(client, "/feed/sources/")
    with django_assert_max_num_queries(2):  # type: ignore[operator]
        assert len(selectors.latest_posts(5)) == 5


def test_filters_are_plain_links_that_keep_each_other(client: Client, source: Source, llm: Topic) -> None:
    other = Source.objects.create(slug="other", name="Other", url="https://other.example/feed")
    make_post(source, 1, llm)
    make_post(source, 2)
    make_post(other, 3, llm)
    html = shown(client, "/feed/?topic=llm")
    assert "Post 1" in html
    assert "Post 3" in html
    assert "Post 2" not in html
    links = {link["href"]: link for link in Links(html).found}
    assert links["?topic=llm"]["aria-current"] == "true"
    assert "?topic=llm&source=other" in links
    both = shown(client, "/feed/?topic=llm&source=other")
    assert "Post 3" in both
    assert "Post 1" not in both


@pytest.mark.parametrize("path", ["/feed/?topic=no-such", "/feed/?source=no-such", "/feed/999/"])
def test_what_is_not_there_is_404(client: Client, path: str) -> None:
    assert client.get(path).status_code == 404


def test_pages(client: Client, source: Source) -> None:
    for number in range(1, 46):
        make_post(source, number)
    first, second, last = (shown(client, f"/feed/?page={page}") for page in ("1", "2", "99"))
    assert first.count('class="feed-post"') == second.count('class="feed-post"') == 20
    assert last.count('class="feed-post"') == 5
    assert [link["href"] for link in Links(first).found if link.get("rel") == "next"] == ["?page=2"]
    assert [link["href"] for link in Links(second).found if link.get("rel") == "prev"] == ["?"]
    assert not [link for link in Links(last).found if link.get("rel") == "next"]
    assert "Page 3 of 3" in last
    assert client.get("/feed/?page=x").status_code == 200


def test_hidden_posts_are_nowhere_and_pinned_ones_on_top(client: Client, source: Source) -> None:
    hidden = make_post(source, 1, hidden=True)
    make_post(source, 2)
    make_post(source, 300, pinned=True)
    html = shown(client, "/feed/")
    assert "Post 1<" not in html
    assert html.index("Post 300") < html.index("Post 2<")
    assert "Pinned" in html
    assert client.get(f"/feed/{hidden.pk}/").status_code == 404


def test_an_empty_list_says_what_is_going_on(client: Client, source: Source) -> None:
    assert "There are no posts yet." in shown(client, "/feed/")
    assert "No post fits these filters." in shown(client, "/feed/?source=lab")
    Source.objects.update(next_poll_at=timezone.now())
    assert "are being fetched right now" in shown(client, "/feed/")


def test_samples_are_marked_on_every_page(client: Client, source: Source) -> None:
    Source.objects.update(is_sample=True, name="Lab (sample)", fulltext_allowed=True)
    source.refresh_from_db()
    post = make_post(source, 1, content_html="<p>Whole.</p>")
    assert "All posts on this page are samples" in shown(client, "/feed/")
    assert '<span class="feed-sample">Sample</span>' in shown(client, "/feed/")
    page = shown(client, f"/feed/{post.pk}/")
    assert "This is a sample that PixelBank wrote." in page
    assert "https://lab.example/p1" not in page


def test_days_have_names() -> None:
    today = date(2026, 1, 2)
    names = [name_of_day(today - timedelta(days=days), today) for days in (0, 1, 2)]
    assert names == ["Today", "Yesterday", "31 December 2025"]
    assert by_day([]) == []


# --- One post ------------------------------------------------------------------------------------------------------


def test_a_post_shows_its_summary_and_leads_to_its_publisher(client: Client, source: Source, llm: Topic) -> None:
    post = make_post(source, 1, llm, content_html="<p>Secret whole text.</p>", authors=["Ann"], tags=["x"])
    html = shown(client, f"/feed/{post.pk}/")
    assert "Summary 1." in html
    assert "Secret whole text" not in html
    original = next(link for link in Links(html).found if link["href"] == "https://lab.example/p1")
    assert set((original["rel"] or "").split()) == {"noopener", "noreferrer", "nofollow"}
    assert "The Lab is a source on our list. A made source." in html


def test_full_text_only_where_the_source_allows_it(client: Client, source: Source) -> None:
    Source.objects.update(fulltext_allowed=True)
    post = make_post(source, 1, content_html="<h1>Part</h1><pre>x</pre>")
    html = shown(client, f"/feed/{post.pk}/")
    assert '<h3>Part</h3><pre tabindex="0">x</pre>' in html


def test_a_post_without_body_says_what_it_was_judged_from(client: Client, source: Source) -> None:
    post = make_post(source, 1, words=0, summary="", title="", published_at=None)
    html = shown(client, f"/feed/{post.pk}/")
    assert "Untitled post" in html
    assert "Judged from its title and summary" in html
    assert "no date given, seen" in html


def test_also_in_names_the_other_feeds(client: Client, source: Source) -> None:
    other = Source.objects.create(slug="agg", name="Aggregator", url="https://agg.example/")
    post = make_post(source, 1)
    post.appearances.create(source=source)
    post.appearances.create(source=other)
    html = shown(client, f"/feed/{post.pk}/")
    assert 'Also in <a href="/feed/?source=agg">Aggregator</a>.' in html


def test_texts_of_strangers_are_escaped_everywhere(client: Client, source: Source, llm: Topic) -> None:
    attack = '"><script>alert(1)</script>'
    Source.objects.update(name=attack, note=attack, problem=attack)
    source.refresh_from_db()
    post = make_post(source, 1, llm, title=attack, summary=attack, authors=[attack], tags=[attack])
    Post.objects.update(topic_reasons={"llm": attack})
    for path in ("/feed/", "/feed/?source=lab", f"/feed/{post.pk}/", "/feed/sources/"):
        html = shown(client, path)
        assert "<script>alert" not in html
        assert "&lt;script&gt;alert" in html


def test_fulltext_starts_its_headings_below_the_pages() -> None:
    assert fulltext("<h2>a</h2><h3>b</h3><h6>c</h6>") == "<h3>a</h3><h4>b</h4><h6>c</h6>"
    assert fulltext("<h4>a</h4>") == "<h3>a</h3>"
    assert fulltext("<table><tr><td>1</td></tr></table>").startswith('<div class="table" role="region"')


# --- Sources -------------------------------------------------------------------------------------------------------


def test_the_sources_page_tells_each_state(client: Client, source: Source) -> None:
    now = datetime.now(UTC)
    Source.objects.update(last_success_at=now - timedelta(hours=2), next_poll_at=now + timedelta(minutes=30))
    for number, state in enumerate(Source.State.values):
        Source.objects.create(slug=f"x{number}", name=f"X{number}", url=f"https://x{number}.example/", state=state)
    Source.objects.filter(state="failing").update(problem="The server answered with status 500.")
    html = shown(client, "/feed/sources/")
    for state in Source.State.values:
        assert f'data-state="{state}"' in html
    assert "last good fetch 2" in html
    assert "The server answered with status 500." in html


@pytest.mark.parametrize("path", ["/feed/", "/feed/sources/"])
def test_only_reading_is_allowed(client: Client, path: str) -> None:
    assert client.post(path).status_code == 405
