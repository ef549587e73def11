"""JSON Feed 1.0 and 1.1, read leniently; feedparser 6 knows neither. Format: https://jsonfeed.org/version/1.1"""

from __future__ import annotations

import json
import re
from typing import Any

from feeds.pipeline.model import NotAFeed, RawEntry, RawFeed
from feeds.pipeline.prepass import MAX_ENTRIES, Document
from feeds.pipeline.urls import is_web, safe_link


def read_json(document: Document, url: str = "") -> RawFeed:
    """The feed in ``document``; ``url`` is where it came from. Raises :class:`NotAFeed`."""
    try:
        data = json.loads(document.text)
    except (ValueError, RecursionError) as error:
        raise NotAFeed("The document starts like JSON but is not valid JSON.") from error
    if not isinstance(data, dict):
        raise NotAFeed("The document is JSON, but a JSON Feed is an object with a version and items.")
    version = re.search(r"jsonfeed\.org/version/(\d(?:\.\d+)?)", _text(data.get("version")) or "")
    items = data.get("items")
    if not isinstance(items, list) or not (version or (data.get("title") and items)):
        message = _text(data.get("message")) or _text(data.get("code"))
        said = f' It says: "{message[:120]}".' if message else ""
        raise NotAFeed(f"The document is JSON, but no JSON Feed: it lacks a jsonfeed.org version or items.{said}")
    candidates = (url, _text(data.get("feed_url")), _text(data.get("home_page_url")))
    base = next((candidate for candidate in candidates if candidate and is_web(candidate)), "")
    feed = RawFeed(
        format=f"json{version[1] if version else '1.1'}",
        title=_text(data.get("title")),
        site_url=safe_link(_text(data.get("home_page_url")), base),
    )
    if not version:
        feed.warnings.append("The document does not name its version of JSON Feed; it was read as 1.1.")
    if len(items) > MAX_ENTRIES:
        feed.warnings.append(f"The document holds more than {MAX_ENTRIES} entries; the rest was left out.")
    authors = _authors(data)
    for item in items[:MAX_ENTRIES]:
        if isinstance(item, dict):
            feed.entries.append(_entry(item, base, authors))
        else:
            feed.warnings.append("An item that is no object was left out.")
    return feed


def _entry(item: dict[str, Any], base: str, feed_authors: list[str]) -> RawEntry:
    markup = _text(item.get("content_html"))
    body = markup or _text(item.get("content_text"))
    tags = item.get("tags")
    return RawEntry(
        guid=_text(item.get("id")),
        link=_text(item.get("url")) or _text(item.get("external_url")) or _web_id(item),
        title=_text(item.get("title")),
        summary=_text(item.get("summary")),
        summary_is_html=False,
        body=body,
        body_is_html=bool(markup),
        base=base,
        published=_text(item.get("date_published")) or _text(item.get("date_modified")),
        updated=_text(item.get("date_modified")),
        authors=_authors(item) or feed_authors,
        tags=[_text(tag) or "" for tag in (tags if isinstance(tags, list) else [tags])],
    )


def _web_id(item: dict[str, Any]) -> str | None:
    """The id where it is an address, as the format recommends, and no other address is given."""
    found = _text(item.get("id"))
    return found if is_web(found) else None


def _authors(holder: dict[str, Any]) -> list[str]:
    """Names from ``authors`` (1.1) or ``author`` (1.0), each of them an object, a list or a plain string."""
    found = holder.get("authors") or holder.get("author") or []
    people = found if isinstance(found, list) else [found]
    names = [_text(person.get("name")) if isinstance(person, dict) else _text(person) for person in people]
    return [name for name in names if name and "@" not in name]


def _text(value: Any) -> str | None:
    """A string or a number as text; everything else, and the empty string, is None. Lone surrogates go."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        return str(value).encode("utf-8", "replace").decode("utf-8").replace("\0", "").strip() or None
    except ValueError:  # an integer of more digits than Python converts
        return None
