"""Documents and made cases: what the pipeline finds in each, against what was read by hand or counted."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from feeds.pipeline import Feed, NotAFeed, parse

CASES = Path(__file__).parent / "cases"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def made_cases(kind: str) -> list[Any]:
    manifest = json.loads((CASES / "manifest.json").read_text(encoding="utf-8"))
    return [pytest.param(case, id=case["id"]) for case in manifest if case["kind"] == kind]


def read(name: str, url: str = "") -> Feed:
    return parse((CASES / name).read_bytes(), url=url, now=NOW)


def test_every_shared_document_is_read_right(corpus: Path) -> None:
    folder = corpus / "feeds" / "documents"
    if not folder.is_dir():
        pytest.skip("../shared/corpus/feeds/documents is not there: it holds other people's text")
    wrong = {}
    documents = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    for document in documents:
        feed = parse((folder / document["file"]).read_bytes(), now=NOW).as_json()
        first = feed["entries"][0]
        found = {
            "format": feed["format"],
            "entries": len(feed["entries"]),
            "first_title": first["title"],
            "first_link": first["link"],
            "first_date": first["published"],
        }
        if differing := {key: (want, found[key]) for key, want in document["expected"].items() if want != found[key]}:
            wrong[document["file"]] = differing
    assert len(documents) >= 20
    assert wrong == {}


@pytest.mark.parametrize("case", made_cases("parse"))
def test_made_case(case: dict[str, Any]) -> None:
    expect = case["expect"]
    feed = read(case["files"][0], expect.get("feed_url", ""))
    entries = feed.entries
    found = {
        "entries": len(entries),
        "titles": [entry.title for entry in entries],
        "links": [entry.link for entry in entries],
        "summaries": [entry.summary for entry in entries],
        "contents": [entry.content_html for entry in entries],
        "authors": [name for entry in entries for name in entry.authors],
        "dates": [entry["published"] for entry in feed.as_json()["entries"]],
        "distinct_ids": len({entry.id for entry in entries}),
    }
    checked = {key: want for key, want in expect.items() if key in found}
    assert checked or "html_must_not_contain" in expect
    assert {key: found[key] for key in checked} == checked
    html = " ".join(entry.content_html or "" for entry in entries)
    assert [bad for bad in expect.get("html_must_not_contain", []) if bad in html] == []


def test_a_json_document_that_is_no_feed_is_refused_in_its_own_words() -> None:
    with pytest.raises(NotAFeed, match="rest_no_route"):
        read("c34_json_feed_shapes_notfeed.json")


def test_names_that_carry_markup_become_plain_text() -> None:
    feed = read("c24_xss.xml")
    entry = feed.entries[0]
    assert feed.title is None
    assert (entry.title, entry.authors, entry.tags) == ("t", (), ())
    assert entry.content_html == "<p>ok</p><img>"


def test_two_polls_of_one_document_give_the_same_identities() -> None:
    for name in ("c04_same_guid.xml", "c08_empty_guid.xml", "c26_odd_dates.xml"):
        assert [entry.keys for entry in read(name).entries] == [entry.keys for entry in read(name).entries]
