"""What stands on the home page today, gathered from the rooms. A room that has nothing yet leaves its place empty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString, mark_safe

from pixelbank.chapters import selectors as chapters
from pixelbank.learners.selectors import current_learner
from pixelbank.web import pictures
from training import selectors as training

if TYPE_CHECKING:
    from pixelbank.learners.models import Learner

PROBLEM_PICTURES: Mapping[str, pictures.Picture] = {"numericalgradient": pictures.error_against_step}
SECTION_PICTURES: Mapping[str, pictures.Picture] = {
    "data-parallelism": pictures.ring_first_step,
    "gradients-checked-numerically": pictures.secant_lines,
}
RUN: dict[str, str | int] = {"ranks": 2, "steps": 60, "model": "tiny", "dtype": "float32"}
"""What the home page's button trains; the lab's form must accept it (tests/web/test_home.py)."""


@dataclass(frozen=True)
class Teaser:
    """One thing to go to: what it is, where, a few short facts, and a computed picture where there is one."""

    title: str
    url: str
    summary: str = ""
    facts: tuple[str, ...] = field(default=())
    picture: SafeString | None = None


@dataclass(frozen=True)
class Recorded:
    """A finished run whose curve is shown."""

    url: str
    ended: datetime
    ranks: int
    steps: int


@dataclass(frozen=True)
class Lab:
    """The run button: where it posts which settings, or the address of the run that the visitor has already."""

    title: str
    summary: str
    url: str
    start: str
    settings: Mapping[str, str | int]
    live: str = ""
    picture: SafeString | None = None
    recorded: Recorded | None = None


@dataclass(frozen=True)
class Home:
    """Everything on the page; None or empty where a room has nothing to show yet."""

    chapter: chapters.Contents | None
    topic: Teaser | None
    lab: Lab


def gather(request: HttpRequest) -> Home:
    """Read from every room what today's page shows to this visitor."""
    learner = current_learner(request)
    return Home(chapter=chapters.outline(learner=learner), topic=_topic(), lab=_lab(learner))


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


def _lab(learner: Learner | None) -> Lab:
    live = training.live_run(learner)
    finished = training.latest_finished()
    picture = pictures.loss_curve([(int(step), loss) for step, loss in finished.points]) if finished else None
    recorded = None
    if finished and picture and finished.finished_at:
        config = finished.run_config
        recorded = Recorded(finished.get_absolute_url(), finished.finished_at, config.ranks, config.steps)
    return Lab(
        title="A small GPT, on two processes at once",
        summary="Both hold the whole model, each works on half of the batch, and after every step they add up their "
        "gradients. Watch the loss fall, then see the result compared with one process alone.",
        url=reverse("training:lab"),
        start=reverse("training:start"),
        # A new seed each day, so that the curve is not always the same.
        settings=RUN | {"seed": timezone.localdate().toordinal() % 1000},
        live=live.get_absolute_url() if live else "",
        picture=picture,
        recorded=recorded,
    )
