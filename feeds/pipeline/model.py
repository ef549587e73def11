"""What the pipeline hands on: plain, frozen values without any framework."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any


class NotAFeed(ValueError):
    """The document cannot be read as RSS, Atom, RDF or JSON Feed. Its text is one sentence for a person."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a feed, cleaned.

    ``title``, ``summary``, ``authors`` and ``tags`` are plain text and must be escaped when shown.
    ``content_html`` went through the allow-list of :mod:`feeds.pipeline.clean` and may be shown as HTML.
    ``link`` is http or https; it stays relative only where no base address is known at all.
    Dates are aware and in UTC, or None where the document gives no date that can be believed.
    """

    id: str
    guid: str | None
    title: str | None
    link: str | None
    canonical_url: str | None
    published: datetime | None
    updated: datetime | None
    summary: str | None
    content_html: str | None
    authors: tuple[str, ...]
    tags: tuple[str, ...]
    keys: tuple[str, ...]
    """Identity, strongest first: ``guid:…``, ``url:…``, ``hash:…``; see :mod:`feeds.pipeline.identity`."""

    def as_json(self) -> dict[str, Any]:
        """The shape that the command line promises (dates as ISO 8601 in UTC)."""
        return {
            "id": self.id,
            "title": self.title,
            "link": self.link,
            "published": iso_utc(self.published),
            "updated": iso_utc(self.updated),
            "summary": self.summary,
            "content_html": self.content_html,
            "authors": list(self.authors),
            "tags": list(self.tags),
        }


@dataclass(frozen=True, slots=True)
class Feed:
    """A whole document. ``format`` is feedparser's name (``rss20``, ``atom10``, …) or ``json1.0``/``json1.1``."""

    format: str
    title: str | None
    site_url: str | None
    entries: tuple[Entry, ...]
    warnings: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The answer of ``python -m feeds.pipeline`` for a document that is a feed."""
        return {
            "ok": True,
            "format": self.format,
            "title": self.title,
            "entries": [entry.as_json() for entry in self.entries],
            "warnings": list(self.warnings),
        }


@dataclass(slots=True)
class RawEntry:
    """What a format's adapter found, before cleaning. Texts carry their media type: ``text`` or ``html``."""

    guid: str | None = None
    link: str | None = None
    title: str | None = None
    title_is_html: bool = False
    summary: str | None = None
    summary_is_html: bool = True
    body: str | None = None
    body_is_html: bool = True
    base: str = ""
    """What relative addresses inside this entry resolve against; empty when unknown."""
    published: str | None = None
    updated: str | None = None
    authors: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)


@dataclass(slots=True)
class RawFeed:
    """What a format's adapter found in the document as a whole."""

    format: str
    title: str | None = None
    title_is_html: bool = False
    site_url: str | None = None
    entries: list[RawEntry] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def iso_utc(moment: datetime | None) -> str | None:
    """ISO 8601 in UTC with a ``Z``, to the second; None stays None."""
    if moment is None:
        return None
    return moment.astimezone(UTC).replace(tzinfo=None, microsecond=0).isoformat() + "Z"
