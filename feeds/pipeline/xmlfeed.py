"""RSS, RDF and Atom, read by feedparser from a prepared document.

feedparser's own sanitiser and its resolving of addresses inside HTML are off: nh3 and
:mod:`feeds.pipeline.clean` do both, and parsing takes a third of the time.
"""

from __future__ import annotations

import io
from typing import Any

import feedparser

from feeds.pipeline.model import NotAFeed, RawEntry, RawFeed
from feeds.pipeline.prepass import Document
from feeds.pipeline.urls import is_web, safe_link

# An id is a name and no address: resolved against the feed's URL it would change when the feed moves. feedparser has
# no option for that, only this set.
feedparser.mixin._FeedParserMixin.can_be_relative_uri.discard("id")

_HTML_TYPES = {"text/html", "application/xhtml+xml"}


def read_xml(document: Document, url: str = "") -> RawFeed:
    """The feed in ``document``; ``url`` is where it came from. Raises :class:`NotAFeed`."""
    headers = {"content-type": "application/xml; charset=utf-8"}
    if url:
        headers["content-location"] = url
    try:
        found = feedparser.parse(
            io.BytesIO(document.text.encode("utf-8")),
            response_headers=headers,
            sanitize_html=False,
            resolve_relative_uris=False,
        )
    except Exception as error:  # feedparser raises many kinds on hostile input (its issue 599)
        raise NotAFeed(f"The document could not be read as a feed ({type(error).__name__} in the parser).") from error
    version = found.get("version") or ("rss" if document.root in ("rss", "channel") else "")
    if not version:
        raise NotAFeed("The document looks like XML, but it is neither RSS, Atom nor RDF.")
    head = found.feed
    base = url or _base(head)
    feed = RawFeed(
        format=version,
        title=head.get("title"),
        title_is_html=_is_html(head.get("title_detail"), version),
        site_url=safe_link(head.get("link"), base),
        entries=[_entry(entry, head, version, base) for entry in found.entries],
    )
    if found.get("bozo") and feed.entries:
        feed.warnings.append("The XML has errors; what could be read was read.")
    return feed


def _base(head: Any) -> str:
    """What the document says about its own address, for one that comes without a URL."""
    links = [link.get("href", "") for link in head.get("links", []) if link.get("rel") == "self"]
    return next((link for link in [*links, head.get("link") or ""] if is_web(link)), "")


def _entry(entry: Any, head: Any, version: str, base: str) -> RawEntry:
    title = entry.get("title_detail") or {}
    summary = entry.get("summary_detail") or {}
    body = _best(entry.get("content") or [])
    # feedparser's own get answers with the published date where there is no updated one.
    updated = dict.get(entry, "updated")
    raw = RawEntry(
        guid=entry.get("id"),
        link=entry.get("feedburner_origlink") or _alternate(entry) or _permalink(entry),
        title=entry.get("title"),
        title_is_html=_is_html(title, version),
        summary=summary.get("value"),
        summary_is_html=_is_html(summary, version),
        base=(body or summary or title).get("base") or base,
        published=entry.get("published") or entry.get("created") or ("" if version.startswith("atom") else updated),
        updated=updated,
        authors=_authors(entry) or (_authors(head) if version.startswith("atom") else []),
        tags=[tag.get("label") or tag.get("term") or "" for tag in entry.get("tags", [])],
    )
    if body:
        raw.body, raw.body_is_html = body.get("value"), body.get("type") in _HTML_TYPES
        if raw.body == raw.summary:
            raw.summary = None  # feedparser copies the content where the document gives no summary
    return raw


def _alternate(entry: Any) -> str | None:
    """The address of the entry's page: its first alternate link, an HTML one if there is a choice, else the place
    of content that is not in the feed. feedparser's own ``link`` may be the id, and of several links the last."""
    links = [link for link in entry.get("links", []) if link.get("rel") == "alternate" and link.get("href")]
    links.sort(key=lambda link: link.get("type") not in ("text/html", None))
    outside = next((content.get("src") for content in entry.get("content") or [] if content.get("src")), None)
    return links[0]["href"] if links else outside


def _permalink(entry: Any) -> str | None:
    """The guid, where the document allows it to serve as link (isPermaLink is absent or true)."""
    guid = entry.get("id")
    return guid if entry.get("guidislink") and is_web(guid) else None


def _best(contents: list[Any]) -> Any:
    """Of several bodies the HTML one, and of those the longest."""
    return max(contents, key=lambda c: (c.get("type") in _HTML_TYPES, len(c.get("value") or "")), default={})


def _is_html(detail: Any, version: str) -> bool:
    """Whether a text construct holds markup. RSS never says, so that it is taken for HTML there."""
    return not version.startswith("atom") or (detail or {}).get("type") in _HTML_TYPES


def _authors(holder: Any) -> list[str]:
    """Names of people; an e-mail address alone is nobody's name and is not passed on."""
    people = [person.get("name") or "" for person in holder.get("authors", [])]
    if not any(people):
        people = [holder.get("author") or ""]
    return [name for name in people if name and "@" not in name]
