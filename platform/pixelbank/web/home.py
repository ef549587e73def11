"""What stands on the home page today, gathered from the rooms. A room that has nothing yet leaves its place empty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from django.http import HttpRequest
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe

from pixelbank.chapters import selectors as chapters
from pixelbank.learners.selectors import current_learner
from pixelbank.web import pictures

PROBLEM_PICTURES: Mapping[str, pictures.Picture] = {"numericalgradient": pictures.error_against_step}
SECTION_PICTURES: Mapping[str, pictures.Picture] = {
    "data-parallelism": pictures.ring_first_step,
    "gradients-checked-numerically": pictures.secant_lines,
}


@dataclass(frozen=True)
class Teaser:
    """One thing to go to: what it is, where, a few short facts, and a computed picture where there is one."""

    title: str
    url: str
    summary: str = ""
    facts: tuple[str, ...] = field(default=())
    picture: SafeString | None = None


@dataclass(frozen=True)
class Home:
    """Everything on the page; None or empty where a room has nothing to show yet."""

    chapter: chapters.Contents | None
    topic: Teaser | None


def gather(request: HttpRequest) -> Home:
    """Read from every room what today's page shows to this visitor."""
    return Home(chapter=chapters.outline(learner=current_learner(request)), topic=_topic())


def _topic() -> Teaser | None:
    section = chapters.today_section(timezone.localdate())
    if section is None:
        return None
    picture = SECTION_PICTURES.get(section.url.rstrip("/").rpartition("/")[2])
    return Teaser(
        title=section.title,
        url=section.url,
        summary=mark_safe(section.question),  # noqa: S308 -- rendered from our own Markdown when the content was loaded
        facts=(section.chapter, f"{section.minutes} minutes"),
        picture=picture() if picture else None,
    )
