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
from django.utils.timesince import timesince

from feeds import selectors as feeds
from pixelbank.blog import selectors as blog
from pixelbank.chapters import selectors as chapters
from pixelbank.learners.selectors import current_learner
from pixelbank.web import pictures
from problems import selectors as problems
from training import selectors as training

if TYPE_CHECKING:
    from pixelbank.learners.models import Learner

PROBLEM_PICTURES: Mapping[str, pictures.Picture] = {"numericalgradient": pictures.error_against_step}
SECTION_PICTURES: Mapping[str, pictures.Picture] = {
    "pretraining/data-parallelism": pictures.ring_first_step,
    "pretraining/gradients-checked-numerically": pictures.secant_lines,
}
POSTS = 6
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
    ended: str
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
    problem: Teaser | None
    lab: Lab
    posts: tuple[Teaser, ...]
    daily: Teaser | None


def gather(request: HttpRequest) -> Home:
    """Read from every room what today's page shows to this visitor."""
    learner = current_learner(request)
    names = [problem.name for problem in problems.published()]
    today = blog.today(chapters.published_names(), names)
    return Home(
        chapter=chapters.outline(learner=learner),
        topic=_topic(today),
        problem=_problem(today.problem, learner),
        lab=_lab(learner),
        posts=_posts(),
        daily=Teaser(today.post.title, today.post.get_absolute_url()) if today.post else None,
    )


def ago(when: datetime) -> str:
    """`3 hours ago`; within a minute, and for a date that a source wrote in the future, `just now`."""
    if (timezone.now() - when).total_seconds() < 60:
        return "just now"
    return f"{timesince(when, depth=1)} ago"


def _topic(today: blog.Today) -> Teaser | None:
    section = chapters.today_section(today.day, today.section)
    if section is None:
        return None
    return Teaser(
        title=section.title,
        url=section.url,
        summary=mark_safe(section.question),  # noqa: S308 -- rendered from our own Markdown when the content was loaded
        facts=(f"{section.chapter} chapter", f"about {section.minutes} minutes"),
        picture=SECTION_PICTURES[today.section]() if today.section in SECTION_PICTURES else None,
    )


def _problem(name: str, learner: Learner | None) -> Teaser | None:
    problem = problems.published().filter(name=name).first()
    if problem is None:
        return None
    solved = ("you have solved it",) if name in problems.solved(learner) else ()
    return Teaser(
        title=problem.title,
        url=problem.get_absolute_url(),
        summary=problem.summary,
        facts=(problem.level, *solved),
        picture=PROBLEM_PICTURES[name]() if name in PROBLEM_PICTURES else None,
    )


def _posts() -> tuple[Teaser, ...]:
    return tuple(
        Teaser(
            title=post.headline,
            url=post.get_absolute_url(),
            facts=(post.source.name, ago(post.sort_at)),
        )
        for post in feeds.latest_posts(POSTS)
    )


def _lab(learner: Learner | None) -> Lab:
    live = training.live_run(learner)
    finished = training.latest_finished()
    picture = pictures.loss_curve([(int(step), loss) for step, loss in finished.points]) if finished else None
    recorded = None
    if finished and picture and finished.finished_at:
        config = finished.run_config
        recorded = Recorded(finished.get_absolute_url(), ago(finished.finished_at), config.ranks, config.steps)
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
