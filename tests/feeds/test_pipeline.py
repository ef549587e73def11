"""Faults that real feeds have, one by one."""

from __future__ import annotations

import gzip
import json
import time
from contextlib import nullcontext
from datetime import UTC, datetime

import pytest

from feeds.pipeline import Feed, NotAFeed, parse
from feeds.pipeline.clean import clean_html
from feeds.pipeline.dates import parse_date
from feeds.pipeline.text import excerpt, reading_minutes, text_of, title_of
from feeds.pipeline.urls import canonical_url, safe_link
from tests.feeds.serving import item, rss

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def one(document: bytes | str, **options: str) -> Feed:
    return parse(document.encode() if isinstance(document, str) else document, now=NOW, **options)  # type: ignore[arg-type]


# --- Encoding ------------------------------------------------------------------------------------------------------

TEXT = '<?xml version="1.0"{}?><rss version="2.0"><channel><item><title>Größe — naïve €5</title></item></channel></rss>'


@pytest.mark.parametrize(
    ("document", "content_type"),
    [
        (TEXT.format("").encode("utf-8"), ""),
        (TEXT.format("").encode("utf-8-sig"), "text/xml; charset=iso-8859-1"),
        (TEXT.format("").encode("utf-8"), "text/xml; charset=iso-8859-1"),
        (TEXT.format(' encoding="utf-8"').encode("cp1252"), "text/xml; charset=windows-1252"),
        (TEXT.format(' encoding="windows-1252"').encode("cp1252"), ""),
        (TEXT.format(' encoding="iso-8859-1"').encode("cp1252"), ""),
        (TEXT.format("").encode("cp1252"), ""),
        (TEXT.format(' encoding="utf-8"').encode("cp1252"), ""),
        (TEXT.format(' encoding="utf-16"').encode("utf-16"), ""),
        (TEXT.format(' encoding="utf-16"').encode("utf-16-be"), ""),
        (TEXT.format(' encoding="utf-16"').encode("utf-16-le"), ""),
        (TEXT.format(' encoding="utf-16"').encode("utf-8"), ""),
        (TEXT.format(' encoding="utf-32"').encode("utf-32"), ""),
        (TEXT.format(' encoding="no-such-charset"').encode("utf-8"), ""),
        (TEXT.format(' encoding="unicode_escape"').encode("utf-8"), ""),
        (gzip.compress(TEXT.format("").encode("utf-8")), ""),
        (b"  \r\n" + TEXT.format("").encode("utf-8"), ""),
        (b"<br />Warning: x in <b>y.php</b>\n" + TEXT.format("").encode("utf-8"), ""),
    ],
)
def test_the_encoding_is_found(document: bytes, content_type: str) -> None:
    assert one(document, content_type=content_type).entries[0].title == "Größe — naïve €5"


@pytest.mark.parametrize(
    ("declaration", "content_type", "encoding", "warning"),
    [
        ("", "", "cp1252", "The document names no encoding and is not UTF-8; it was read as Windows-1252."),
        (' encoding="utf-8"', "", "cp1252", "names the encoding utf-8, but is not written in it; it was read"),
        (' encoding="UTF-16"', "", "cp1252", "names the encoding UTF-16, but is not written in it"),
        (' encoding="no-such"', "", "cp1252", "names the encoding no-such, but is not written in it"),
        ("", "text/xml; charset=utf-8", "cp1252", "names the encoding utf-8, but is not written in it"),
        (' encoding="utf-16"', "", "utf-8", "names the encoding utf-16, but it is UTF-8"),
    ],
)
def test_a_wrong_encoding_is_reported_as_what_it_is(
    declaration: str, content_type: str, encoding: str, warning: str
) -> None:
    feed = one(TEXT.format(declaration).encode(encoding), content_type=content_type)
    assert warning in feed.warnings[0]


# --- XML -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("AT&amp;amp;T", "AT&T"),
        ("AT&T", "AT&T"),
        ("R&D &undefined; x", "R&D &undefined; x"),
        ("a &#1114112; b &#xD800; c &#8217;", "a � b � c ’"),
        ("it&#146;s", "it’s"),
        ("<![CDATA[It's <b>bold</b> &amp; <i>it</i>]]>", "It's bold & it"),
        ("List&lt;int&gt; in C++", "List<int> in C++"),
        ("&lt;script&gt;", "<script>"),
        ("&lt;script&gt;alert(1)&lt;/script&gt;", None),
        ("&lt;STYLE type='x'&gt;b{}&lt;/style &gt;", None),
        ("Part 1&lt;script&gt;alert(1)&lt;/script&gt; of 2", "Part 1 of 2"),
        ("a &lt; b", "a < b"),
        ("&lt;T&gt; generics", "<T> generics"),
        ("a\x0b\x1fb", "ab"),
        ("  two\n  lines ", "two lines"),
    ],
)
def test_titles_are_plain_text(title: str, expected: str | None) -> None:
    assert one(rss(f"<item><title>{title}</title></item>")).entries[0].title == expected


def test_an_atom_title_that_is_text_keeps_its_angle_brackets() -> None:
    document = (
        '<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>1</id><title>&lt;b&gt; in HTML</title></entry>'
        '<entry><id>2</id><title type="html">&lt;b&gt;bold&lt;/b&gt; claim</title></entry>'
        '<entry><id>3</id><title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><b>x</b> claim</div>'
        "</title></entry></feed>"
    )
    assert [entry.title for entry in one(document).entries] == ["<b> in HTML", "bold claim", "x claim"]


def test_entities_of_a_document_are_never_expanded() -> None:
    bomb = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 12))
    item = "<item><title>a&l11;</title></item>"
    document = f'<!DOCTYPE x [<!ENTITY l0 "lol">{bomb}]><rss version="2.0"><channel>{item}</channel></rss>'
    started = time.process_time()
    feed = one(document)
    assert time.process_time() - started < 1
    assert feed.entries[0].title == "a&l11;"
    assert "entities of its own" in feed.warnings[0]


def test_external_entities_are_never_read() -> None:
    document = '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>' + rss(item(1, "&f;")).decode()
    assert "root:" not in json.dumps(one(document).as_json())


@pytest.mark.parametrize("doctype", ['<!DOCTYPE foo "\\1">', "<!DOCTYPE foo [", '<!DOCTYPE r [<!ENTITY a "\\g<1>">]>'])
def test_an_odd_doctype_raises_nothing(doctype: str) -> None:
    document = rss(item(1)).decode().removeprefix('<?xml version="1.0"?>')
    unclosed = doctype.endswith("[")
    with pytest.raises(NotAFeed) if unclosed else nullcontext():
        assert one(doctype + document).entries


def test_media_descriptions_never_stand_for_the_posts_own() -> None:
    media = (
        '<media:group xmlns:media="http://search.yahoo.com/mrss/"><media:title>pic</media:title>'
        "<media:description>a cat</media:description><media:keywords>cat</media:keywords></media:group>"
    )
    for order in (media + item(1, "Real.")[6:-7], item(1, "Real.")[6:-7] + media):
        entry = one(rss(f"<item>{order}</item>")).entries[0]
        assert (entry.title, entry.summary, entry.tags) == ("Post 1", "Real.", ())


OWN = "<title>Real</title><link>https://lab.example/1</link><description>Own.</description>"


@pytest.mark.parametrize(
    "other",
    [
        "<dc:title>x</dc:title>",
        "<dc:description>x</dc:description>",
        "<itunes:title>x</itunes:title>",
        "<itunes:summary>x</itunes:summary>",
        "<itunes:subtitle>x</itunes:subtitle>",
        "<summary>x</summary>",
        "<og><title>x</title><description>x</description></og>",
        "<author><title>x</title><name>Ann</name></author>",
        "<image><title>x</title><link>https://x.example/</link></image>",
        "<textInput><title>x</title><link>https://x.example/</link></textInput>",
        '<source url="https://x.example/">x</source>',
        "<media:title>x</media:title><media:description/>",
        "<media:description>never closed",
    ],
)
def test_an_items_own_title_and_description_win_over_namesakes(other: str) -> None:
    for inner in (other + OWN, OWN + other):
        entry = one(rss(f"<item>{inner}</item>", "<item><title>next</title></item>")).entries[0]
        assert (entry.title, entry.link) == ("Real", "https://lab.example/1")
        assert (entry.summary or "").startswith("Own.") or "never closed" in other


def test_a_namesake_stands_in_where_the_item_has_no_own() -> None:
    entry = one(rss("<item><dc:title>T</dc:title><dc:description>D</dc:description></item>")).entries[0]
    assert (entry.title, entry.summary) == ("T", "D")


def test_an_entry_that_the_document_breaks_off_in_is_left_out() -> None:
    whole = rss(item(1, "text"), item(2, "text"))
    for cut in range(whole.index(b"Post 2"), whole.rindex(b"</item>")):
        assert [entry.title for entry in one(whole[:cut]).entries] == ["Post 1"]
    assert len(one(whole.removesuffix(b"</channel></rss>")).entries) == 2


@pytest.mark.parametrize(
    ("entry", "link"),
    [
        ('<id>1</id><link href="/a"/>', "https://lab.example/a"),
        ('<id>1</id><link rel="edit" href="/e"/><link rel="alternate" href="/a"/>', "https://lab.example/a"),
        (
            '<id>1</id><link type="application/json" href="/j"/><link type="text/html" href="/a"/>',
            "https://lab.example/a",
        ),
        ('<id>https://lab.example/a</id><link rel="enclosure" href="/f.mp3"/>', "https://lab.example/a"),
        ('<id>1</id><content type="text/html" src="/a"/>', "https://lab.example/a"),
        ("<id>no-address</id>", None),
    ],
)
def test_the_link_of_an_atom_entry(entry: str, link: str | None) -> None:
    document = f'<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>t</title>{entry}</entry></feed>'
    read = one(document, url="https://lab.example/feed").entries[0]
    assert read.link == link
    assert read.guid == entry[4 : entry.index("</id>")]


def test_addresses_inside_content_resolve_against_its_base() -> None:
    document = (
        '<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://lab.example/blog/"><entry xml:base="p/"><id>1</id>'
        '<content type="html" xml:base="pics/">&lt;img src="a.png"&gt;&lt;a href="../q"&gt;q&lt;/a&gt;</content>'
        "</entry></feed>"
    )
    html = one(document).entries[0].content_html or ""
    assert 'src="https://lab.example/blog/p/pics/a.png"' in html
    assert 'href="https://lab.example/blog/p/q"' in html


@pytest.mark.parametrize(
    ("document", "version"),
    [
        (
            '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
            'xmlns="http://my.netscape.com/rdf/simple/0.9/"><item><title>t</title></item></rdf:RDF>',
            "rss090",
        ),
        (
            '<!DOCTYPE rss SYSTEM "x"><rss version="0.91"><channel><item><title>t</title></item></channel></rss>',
            "rss091u",
        ),
        ('<feed version="0.3" xmlns="http://purl.org/atom/ns#"><entry><title>t</title></entry></feed>', "atom03"),
        ('{"version": "https://jsonfeed.org/version/1", "items": [{"id": 1, "title": "t"}]}', "json1"),
    ],
)
def test_old_formats_are_named(document: str, version: str) -> None:
    feed = one(document)
    assert (feed.format, feed.entries[0].title) == (version, "t")


def test_content_before_description_keeps_both() -> None:
    content = (
        '<content:encoded xmlns:content="http://purl.org/rss/1.0/modules/content/">'
        "<![CDATA[<p>Whole</p>]]></content:encoded>"
    )
    for order in (f"{content}<description>Short</description>", f"<description>Short</description>{content}"):
        entry = one(rss(f"<item><title>t</title>{order}</item>")).entries[0]
        assert (entry.summary, entry.content_html) == ("Short", "<p>Whole</p>")


def test_undeclared_prefixes_are_given_their_usual_meaning() -> None:
    document = "<rss version=2.0><channel><item><title>t</title><dc:creator>Ann</dc:creator></item></channel></rss>"
    feed = one(document)
    assert feed.entries[0].authors == ("Ann",)
    assert "errors" not in " ".join(feed.warnings)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("hello", "neither XML nor JSON"),
        ("<!doctype html><html><head><title>x</title></head></html>", "web page"),
        ("<html><body>&lt;rss&gt;<rss></rss></body></html>", "web page"),
        ('<opml version="2.0"><body/></opml>', "OPML"),
        ("<urlset/>", "sitemap"),
        ("<svg/>", "svg"),
        ("[1]", "JSON"),
        ("{", "not valid JSON"),
        ('{"version": "https://jsonfeed.org/version/1.1"}', "items"),
        ("[" * 100_000, "JSON"),
        (b"\x1f\x8bnot gzip", "gzip"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "neither"),
    ],
)
def test_what_is_no_feed_is_refused_with_a_sentence(document: bytes | str, said: str) -> None:
    with pytest.raises(NotAFeed, match=said) as refused:
        one(document)
    assert "\n" not in str(refused.value)


def test_an_archive_is_cut_and_says_so() -> None:
    feed = one(rss(*(item(number) for number in range(1200))))
    assert len(feed.entries) == 1000
    assert feed.entries[-1].title == "Post 999"
    assert any("more than 1000" in warning for warning in feed.warnings)


def test_a_huge_gzip_is_refused() -> None:
    with pytest.raises(NotAFeed, match="20 MB"):
        one(gzip.compress(bytes(21 * 2**20)))


# --- Identity ------------------------------------------------------------------------------------------------------


def test_a_changelog_whose_entries_share_one_page_keeps_them_apart() -> None:
    feed = one(rss(*(item(n, link=f"https://lab.example/changes#v{n}") for n in range(3))))
    assert [entry.keys for entry in feed.entries] == [(f"guid:urn:p{n}",) for n in range(3)]


@pytest.mark.parametrize("zero", ["Mon, 01 Jan 0001 00:00:00 +0000", "0001-01-01T00:00:00Z", "0000-00-00T00:00:00Z"])
def test_the_zero_value_of_a_date_type_is_no_date_and_says_so(zero: str) -> None:
    feed = one(rss(f"<item><title>x</title><pubDate>{zero}</pubDate></item>"))
    assert feed.entries[0].published is None
    assert feed.warnings == ("1 of 1 entries have no date that can be read.",)


def test_true_doubles_are_folded() -> None:
    feed = one(rss(item(1), item(1), item(2)))
    assert [entry.title for entry in feed.entries] == ["Post 1", "Post 2"]


@pytest.mark.parametrize(
    ("link", "canonical"),
    [
        ("http://www.Lab.example:80//attn/?utm_source=rss&b=2&a=1#top", "https://lab.example/attn?a=1&b=2"),
        ("https://lab.example", "https://lab.example"),
        ("https://lab.example/", "https://lab.example"),
        ("https://lab.example:8443/x/", "https://lab.example:8443/x"),
        ("https://lab.example/#!/post/1", "https://lab.example#!/post/1"),
        ("https://user:pw@lab.example:8443/x", "https://lab.example:8443/x"),
        ("/relative", None),
        ("javascript:alert(1)", None),
        (None, None),
    ],
)
def test_canonical_url(link: str | None, canonical: str | None) -> None:
    assert canonical_url(link) == canonical


@pytest.mark.parametrize(
    ("link", "safe"),
    [
        ("/x", "https://lab.example/x"),
        ("x y", "https://lab.example/blog/x%20y"),
        ("//other.example/z", "https://other.example/z"),
        ("javascript:alert(1)", None),
        ("java\nscript:alert(1)", None),
        ("\x01javascript:alert(1)", None),
        ("data:text/html,x", None),
        ("vbscript:x", None),
        ("mailto:a@b.example", None),
        ("http://[::1", None),
        ("https://", None),
        ("https://user:pw@lab.example/x?to=a@b#c", "https://lab.example/x?to=a@b#c"),
        ("https://bank.example@evil.example:8443/", "https://evil.example:8443/"),
        ("//a@b@[::1]/", "https://[::1]/"),
        ("https://lab.example/@name", "https://lab.example/@name"),
        ("https://lab.example/" + "a" * 3000, None),
    ],
)
def test_only_web_links_survive(link: str, safe: str | None) -> None:
    assert safe_link(link, "https://lab.example/blog/") == safe


# --- Cleaning ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attack",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg onload=alert(1)><script>1</script></svg>",
        '<a href="javascript:alert(1)">x</a>',
        '<a href=" java&#x0A;script:alert(1)">x</a>',
        '<iframe srcdoc="<script>1</script>"></iframe>',
        '<div style="background:url(javascript:1)">x</div>',
        '<math><mtext></p><style><img src=x onerror="alert(1)"></style></math>',
        "<math><annotation-xml encoding=text/html><script>1</script></annotation-xml></math>",
        '<form action="https://evil.example"><button formaction="javascript:1">x</button></form>',
        '<base href="https://evil.example/"><meta http-equiv=refresh content="0;url=javascript:1">',
        '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
        '<p onclick="1" id="main" class="button" data-x="1">x</p>',
    ],
)
def test_attacks_do_not_survive(attack: str) -> None:
    html = clean_html(attack).lower()
    for word in (
        "script",
        "onerror",
        "onclick",
        "onload",
        "javascript",
        "iframe",
        "style",
        "<svg",
        "<form",
        "id=",
        "data-",
    ):
        assert word not in html, html


def test_what_a_technical_post_needs_survives() -> None:
    html = clean_html(
        '<h2>T</h2><pre><code class="language-python evil">x = 1</code></pre>'
        '<table><tr><td colspan="2">1</td></tr></table>'
        "<p>E=mc<sup>2</sup>, H<sub>2</sub>O</p><math><mi>x</mi><mo>=</mo><mn>1</mn></math>"
        '<a href="/rel">r</a><figure><img src="i.png" alt="a plot"><figcaption>c</figcaption></figure>',
        base="https://lab.example/blog/",
    )
    assert '<code class="language-python">' in html
    assert '<td colspan="2">' in html
    assert "<sup>2</sup>" in html
    assert "<math><mi>x</mi><mo>=</mo><mn>1</mn></math>" in html
    assert '<a href="https://lab.example/rel" rel="nofollow noopener noreferrer">r</a>' in html
    assert '<img src="https://lab.example/blog/i.png" alt="a plot">' in html


def test_images_can_be_left_out() -> None:
    assert clean_html('<p>a<img src="https://x.example/t.gif">b</p>', images=False) == "<p>ab</p>"


def test_absurd_depth_becomes_text_at_once() -> None:
    started = time.process_time()
    assert clean_html("<div>" * 100_000 + "deep") == "deep"
    assert time.process_time() - started < 1


# --- Text ----------------------------------------------------------------------------------------------------------


def test_text_of_html() -> None:
    assert text_of("<p>One</p><p>two&nbsp;x<br>three</p><script>no</script>") == "One two\xa0x three"
    assert text_of("a < b and c > d") == "a < b and c > d"
    assert text_of("<script>" * 50_000 + "x") == "x"


def test_title_of_nothing_is_nothing() -> None:
    assert title_of("", is_html=True) is None
    assert title_of("  ", is_html=True) is None
    assert title_of("<p></p>", is_html=True) == "<p></p>"


def test_excerpts_end_at_a_sentence_or_a_word() -> None:
    text = "First sentence here. Second one is rather longer than the first. " + "word " * 100
    assert excerpt(text, 100) == "First sentence here. Second one is rather longer than the first."
    assert excerpt("word " * 100, 23) == "word word word word…"
    assert excerpt("x" * 500, 10) == "x" * 9 + "…"
    assert reading_minutes(0) == 1
    assert reading_minutes(2200) == 10


# --- Dates ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("Mon, 05 Jan 2026 10:00:00 GMT", "2026-01-05T10:00:00+00:00"),
        ("05 Jan 26 10:00 EST", "2026-01-05T15:00:00+00:00"),
        ("Thurs, 30 May 2019 00:00:00 UTC", "2019-05-30T00:00:00+00:00"),
        ("Wed, 19 jan 2026 00:00:00 GMT", "2026-01-19T00:00:00+00:00"),
        ("Mon, 5 January 2026 10:00:00 +0530", "2026-01-05T04:30:00+00:00"),
        ("January 5, 2026 at 3:07 pm", "2026-01-05T15:07:00+00:00"),
        ("Jan 5, 2026 12:30 AM", "2026-01-05T00:30:00+00:00"),
        ("Mon Jan  5 10:00:00 2026", "2026-01-05T10:00:00+00:00"),
        ("2026-01-05", "2026-01-05T00:00:00+00:00"),
        ("2026-01-05T10:00:00.123456Z", "2026-01-05T10:00:00+00:00"),
        ("2026-01-05T10:00:00-05:00", "2026-01-05T15:00:00+00:00"),
        ("2026-01-05 10:00:00 +0000 UTC", "2026-01-05T10:00:00+00:00"),
        ("2026-01-05 24:00", "2026-01-06T00:00:00+00:00"),
        ("2026-01-05T23:59:60Z", "2026-01-05T23:59:59+00:00"),
        ("20260105T100000Z", "2026-01-05T10:00:00+00:00"),
        ("1755680000", "2025-08-20T08:53:20+00:00"),
        ("1755680000123", "2025-08-20T08:53:20+00:00"),
        ("2026-12-02T11:00:00Z", "2026-12-02T11:00:00+00:00"),
    ],
)
def test_dates_that_mean_something(text: str, moment: str) -> None:
    found = parse_date(text, now=NOW)
    assert found is not None
    assert found.isoformat() == moment


@pytest.mark.parametrize(
    "text",
    [
        "", "2025-02-30", "31 Apr 2026", "2026-13-01", "Invalid Date", "yesterday", "05/06/2026", "2026", "2026-05",
        "1755", "99999999999", "Mon, 05 Foo 2026", "0000-00-00", "1970-01-01", "2099-01-01", "2026-01-05T99:00:00Z",
        "Mon, 01 Jan 0001 00:00:00 +0000", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "Jan 1, 0001",
        "Mon Jan  1 00:00:00 0001", "0000-01-01T00:00:00Z", "Sat, 01 Jan 0000 00:00:00 GMT", "01 Jan 0026",
        "0099-05-05",
        "2026-01-05T10:00:00+99:99", "25 Jan 2026 13:00 pm", "٢٠٢٦-٠١-٠٥", "1" * 500, "2026-12-03T00:00:00Z", None,
    ],
)  # fmt: skip
def test_a_wrong_date_is_worse_than_none(text: str | None) -> None:
    assert parse_date(text, now=NOW) is None
