"""The way from bytes to a :class:`~feeds.pipeline.model.Feed`, in one function."""

from __future__ import annotations

from datetime import UTC, datetime

from feeds.pipeline.clean import clean_html, text_to_html
from feeds.pipeline.dates import parse_date
from feeds.pipeline.identity import with_identity
from feeds.pipeline.jsonfeed import read_json
from feeds.pipeline.model import Entry, Feed, RawEntry
from feeds.pipeline.prepass import prepare
from feeds.pipeline.text import name_of, squeeze, text_of, title_of
from feeds.pipeline.urls import canonical_url, safe_link
from feeds.pipeline.xmlfeed import read_xml

_LONGEST_GUID = 2000


def parse(
    data: bytes, *, url: str = "", content_type: str = "", now: datetime | None = None, images: bool = True
) -> Feed:
    """Read a feed document.

    ``url`` is where it came from (after redirects): relative links resolve against it. ``content_type`` is
    the HTTP header; only its charset is used, since servers lie about the rest. ``now`` bounds future dates.
    ``images=False`` leaves pictures out. Raises :class:`~feeds.pipeline.model.NotAFeed`, and nothing else.
    """
    moment = now or datetime.now(UTC)
    document = prepare(data, content_type)
    raw = read_json(document, url) if document.root == "json" else read_xml(document, url)
    entries, notes = with_identity([_entry(entry, moment, images) for entry in raw.entries])
    warnings = [*document.warnings, *raw.warnings, *notes]
    if not entries:
        warnings.append("The feed has no entries.")
    undated = sum(entry.published is None for entry in entries)
    if undated:
        warnings.append(f"{undated} of {len(entries)} entries have no date that can be read.")
    dropped = sum(bool(r.link) and safe_link(r.link, r.base) is None for r in raw.entries)
    if dropped:
        warnings.append(f"{dropped} links were dropped because they are not http or https.")
    return Feed(raw.format, title_of(raw.title, is_html=raw.title_is_html), raw.site_url, entries, tuple(warnings))


def _entry(raw: RawEntry, now: datetime, images: bool) -> Entry:
    link = safe_link(raw.link, raw.base)
    summary = raw.summary if raw.summary and raw.summary.strip() else None
    has_body = bool(raw.body and raw.body.strip())
    body, body_is_html = (raw.body, raw.body_is_html) if has_body else (summary, raw.summary_is_html)
    published = parse_date(raw.published, now=now)
    updated = parse_date(raw.updated, now=now)
    return Entry(
        id="",
        guid=(squeeze(raw.guid or "")[:_LONGEST_GUID]) or None,
        title=title_of(raw.title, is_html=raw.title_is_html),
        link=link,
        canonical_url=canonical_url(link),
        published=published or updated,  # the best that is known where only a change is dated
        updated=updated,
        summary=_plain(summary, raw.summary_is_html, raw.base),
        content_html=_markup(body, body_is_html, raw.base, images),
        authors=_names(raw.authors),
        tags=_names(raw.tags),
        keys=(),
    )


def _plain(text: str | None, is_html: bool, base: str) -> str | None:
    """A summary as one line of plain text. HTML goes through the cleaner first, so that tags are read as a
    browser reads them and scripts leave nothing behind."""
    if not text:
        return None
    return (text_of(clean_html(text, base=base, images=False)) if is_html else squeeze(text)) or None


def _markup(text: str | None, is_html: bool, base: str, images: bool) -> str | None:
    if not text:
        return None
    return (clean_html(text, base=base, images=images) if is_html else text_to_html(text)) or None


def _names(values: list[str]) -> tuple[str, ...]:
    """Plain names, each once, in the document's order."""
    return tuple(dict.fromkeys(name[:200] for value in values if (name := name_of(value))))[:50]
