"""Whatever arrives, the pipeline answers with a feed or with one sentence, and soon."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from feeds.pipeline import NotAFeed, parse

CASES = sorted(path for path in (Path(__file__).parent / "cases").glob("c*") if ".http." not in path.name)
SEEDS = [path.read_bytes() for path in CASES]
PIECES = [
    b"<", b">", b"</", b"<![CDATA[", b"]]>", b"<!--", b"-->", b"<!DOCTYPE x [", b"]>", b"&#1114112;", b"&#x0;", b"&",
    b'"', b"'", b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"<item>", b"</item>", b"<entry>", b"</channel>", b"http://[",
    b'<?xml version="1.0" encoding="utf-7"?>', b"xmlns:a=''", b"<a:b>", b"{", b"[", b'"items":', b"1e999", b"\\ud800",
    b"<media:description>", b"<pubDate>99 Foo</pubDate>", b'<x xml:base="http://[::1">', b"\x1f\x8b",
]  # fmt: skip


def survives(document: bytes, content_type: str = "") -> None:
    started = time.process_time()
    try:
        feed, sentence = parse(document, url="https://lab.example/feed", content_type=content_type), ""
    except NotAFeed as refused:
        feed, sentence = None, str(refused)
    assert time.process_time() - started < 2
    if feed is None:
        assert sentence.strip()
        assert "\n" not in sentence
        return
    json.dumps(feed.as_json()).encode("ascii")
    ids = [entry.id for entry in feed.entries]
    assert len(ids) == len(set(ids))


@given(st.binary(max_size=400), st.text(max_size=40))
@settings(max_examples=80, deadline=None)
def test_any_bytes(document: bytes, content_type: str) -> None:
    survives(document, content_type)


@given(
    st.sampled_from(SEEDS), st.lists(st.tuples(st.floats(0, 1), st.sampled_from(PIECES)), max_size=8), st.floats(0, 1)
)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_cases_with_pieces_thrown_in(seed: bytes, pieces: list[tuple[float, bytes]], cut: float) -> None:
    document = seed
    for place, piece in pieces:
        at = int(place * len(document))
        document = document[:at] + piece + document[at:]
    survives(document if cut > 0.5 else document[: int(cut * 2 * len(document))])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
FIELDS = [
    "id", "url", "title", "summary", "content_html", "content_text", "authors", "author", "tags", "date_published",
]  # fmt: skip


@given(st.lists(st.dictionaries(st.sampled_from(FIELDS), json_values) | json_values, max_size=4))
@settings(max_examples=60, deadline=None)
def test_json_feeds_of_any_shape(items: list[object]) -> None:
    survives(json.dumps({"version": "https://jsonfeed.org/version/1.1", "title": "x", "items": items}).encode())


def test_mutated_documents(corpus: Path) -> None:
    folder = corpus / "feeds" / "documents"
    chance = random.Random(20261130)
    for path in sorted(folder.glob("*")):
        if path.name == "manifest.json":
            continue
        original = path.read_bytes()[:15_000]
        for _ in range(5):
            mutant = bytearray(original)
            for _ in range(chance.randint(1, 20)):
                at = chance.randrange(len(mutant))
                if chance.random() < 0.4:
                    mutant[at : at + chance.randrange(30)] = b""
                else:
                    mutant[at:at] = chance.choice(PIECES)
                mutant = mutant or bytearray(b"x")
            survives(bytes(mutant))


HEAD = b'<rss version="2.0"><channel>'


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(HEAD + b"<!-- " * 200_000, id="comments that never end"),
        pytest.param(HEAD + b"<a '\"" * 100_000, id="quotes that never end"),
        pytest.param(HEAD + b"<" * 500_000, id="angle brackets"),
        pytest.param(HEAD + b"<item><title>" + b"&" * 100_000, id="ampersands"),
        pytest.param(HEAD + b"<![CDATA[" * 100_000, id="cdata that never ends"),
        pytest.param(b"<!DOCTYPE x>" * 100_000 + HEAD, id="doctypes"),
        pytest.param(b"<!DOCTYPE [" * 100_000, id="doctype subsets"),
        pytest.param(HEAD + b"<item " + b"a=1 " * 100_000 + b"/>", id="attributes"),
        pytest.param(HEAD + b"<item><title>" + b"&lt;script&gt;" * 40_000 + b"</title></item>", id="scripts"),
        pytest.param(HEAD + b"<item><description>" + b"&lt;div&gt;" * 40_000 + b"</description>", id="deep HTML"),
        pytest.param(b'{"items":' * 100_000, id="deep JSON"),
    ],
)  # fmt: skip
def test_hostile_documents_cost_little(document: bytes) -> None:
    survives(document)
