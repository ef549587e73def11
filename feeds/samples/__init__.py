"""Sample posts for a first run without internet, in our own words and always marked as samples.

Each source is one Markdown file; a post starts with ``# Title`` and the lines ``tags:`` and ``hours:`` (its age when
the site starts). Code blocks are run by tests/feeds/test_samples.py, so that their figures are true.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

AUTHOR = "PixelBank sample"
ORIGIN = "https://samples.pixelbank.example"
"""Where a sample's link points: a name that is reserved for examples and leads nowhere."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample source: the name of its file, how it presents itself, and the format in which it is served."""

    slug: str
    name: str
    format: str
    note: str

    @property
    def path(self) -> str:
        """The last part of its feed's address."""
        return f"{self.slug}.{'json' if self.format == 'json' else 'xml'}"


@dataclass(frozen=True, slots=True)
class SamplePost:
    """One post of a sample source, as Markdown."""

    slug: str
    title: str
    tags: tuple[str, ...]
    hours: int
    markdown: str

    def published(self, today: datetime) -> datetime:
        """Its date, counted back from the last quarter of ``today``, so that a fresh site shows fresh posts while a
        document still stays the same for hours and its ETag means something."""
        quarter = today.hour // 6 * 6
        return today.replace(hour=quarter, minute=0, second=0, microsecond=0) - timedelta(hours=self.hours)


_NOTE = "Sample source, written by PixelBank so that the feed can be tried without internet."
SAMPLES = (
    Sample("shard-notes", "Shard Notes (sample)", "rss", f"{_NOTE} Served as RSS 2.0."),
    Sample("token-by-token", "Token by Token (sample)", "atom", f"{_NOTE} Served as Atom."),
    Sample("loss-curves", "Loss Curves (sample)", "json", f"{_NOTE} Served as JSON Feed."),
    Sample("pixels-to-patches", "Pixels to Patches (sample)", "rss", f"{_NOTE} Served as RSS 2.0."),
    Sample("float-diary", "Float Diary (sample)", "atom", f"{_NOTE} Served as Atom."),
)
_POST = re.compile(r"^# (?P<title>.+)\ntags: (?P<tags>.+)\nhours: (?P<hours>\d+)\n\n", re.M)


def posts_of(sample: Sample) -> list[SamplePost]:
    """The posts of a sample source, newest first. Comments in code blocks are no titles: those have no tags."""
    text = (Path(__file__).parent / f"{sample.slug}.md").read_text(encoding="utf-8")
    heads = list(_POST.finditer(text))
    posts = []
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        body = text[head.end() : following.start() if following else len(text)].strip()
        slug = re.sub(r"[^a-z0-9]+", "-", head["title"].lower()).strip("-")
        tags = tuple(tag.strip() for tag in head["tags"].split(","))
        posts.append(SamplePost(slug, head["title"], tags, int(head["hours"]), body))
    return sorted(posts, key=lambda post: post.hours)
