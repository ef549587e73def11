"""Reads of the chapters' room: outlines, sections, a learner's progress."""

from __future__ import annotations

import datetime
import hashlib
from dataclasses import dataclass
from typing import Any

from django.db.models import Max
from django.urls import reverse

from pixelbank.chapters.models import Answer, Chapter, Reading, Section
from pixelbank.learners.models import Learner
from pixelbank.learners.registry import Entry, Figure, Overview

FIRST_CHAPTER = "pretraining"


@dataclass(frozen=True)
class Line:
    """One line of a table of contents."""

    number: int
    slug: str
    title: str
    goal: str
    minutes: int
    url: str
    """Empty for a section that is only planned."""
    done: bool = False
    started: bool = False


@dataclass(frozen=True)
class Part:
    """One part of a chapter, in a table of contents."""

    number: int
    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Contents:
    """A chapter's table of contents, with what the asking learner has done."""

    slug: str
    title: str
    summary: str
    url: str
    parts: tuple[Part, ...]
    published: int
    planned: int
    done: int


@dataclass(frozen=True)
class Today:
    """A section to show on the home page."""

    title: str
    goal: str
    question: str
    minutes: int
    url: str
    chapter: str


def url_of(section: Section) -> str:
    """The address of a section's page."""
    return reverse("chapters:section", args=[section.chapter.slug, section.slug])


def chapter(slug: str) -> Chapter | None:
    """A chapter by its slug."""
    return Chapter.objects.filter(slug=slug).first()


def published(chapter_slug: str, slug: str) -> Section | None:
    """A section that can be read."""
    return (
        Section.objects.filter(chapter__slug=chapter_slug, slug=slug, state=Section.State.PUBLISHED)
        .select_related("chapter")
        .first()
    )


def outline(slug: str = FIRST_CHAPTER, learner: Learner | None = None) -> Contents | None:
    """The table of contents of a chapter, or None while no content is loaded."""
    found = chapter(slug)
    if found is None:
        return None
    readings = _readings(learner)
    rows = list(found.sections.defer("html", "extras"))
    lines: dict[int, list[Line]] = {}
    for section in rows:
        readable = section.state == Section.State.PUBLISHED
        reading = readings.get(section.pk)
        lines.setdefault(section.part, []).append(
            Line(
                number=section.number,
                slug=section.slug,
                title=section.title,
                goal=section.goal,
                minutes=section.minutes,
                url=reverse("chapters:section", args=[slug, section.slug]) if readable else "",
                done=reading is not None and reading.done_at is not None,
                started=reading is not None,
            )
        )
    every = [line for part in lines.values() for line in part]
    return Contents(
        slug=slug,
        title=found.title,
        summary=found.summary,
        url=reverse("chapters:contents", args=[slug]),
        parts=tuple(Part(n, title, tuple(lines.get(n, ()))) for n, title in enumerate(found.parts, start=1)),
        published=sum(bool(line.url) for line in every),
        planned=sum(not line.url for line in every),
        done=sum(line.done and bool(line.url) for line in every),
    )


def neighbours(section: Section) -> tuple[Section | None, Section | None]:
    """The readable sections before and after this one."""
    readable = Section.objects.filter(chapter=section.chapter, state=Section.State.PUBLISHED).select_related("chapter")
    readable = readable.defer("html", "extras")
    before = readable.filter(number__lt=section.number).order_by("-number").first()
    return before, readable.filter(number__gt=section.number).order_by("number").first()


def reading(learner: Learner | None, section: Section) -> Reading | None:
    """How far the learner is in a section."""
    return Reading.objects.filter(learner=learner, section=section).first() if learner else None


def answers(learner: Learner | None, section: Section) -> dict[str, Answer]:
    """The learner's latest answer to each question of a section."""
    if learner is None:
        return {}
    given = Answer.objects.filter(learner=learner, section=section).order_by("answered_at", "pk")
    return {answer.question: answer for answer in given}


def fingerprint(learner: Learner | None) -> str:
    """Changes whenever something that this room shows about the learner changes."""
    if learner is None:
        return "nobody"
    kept = Reading.objects.filter(learner=learner).aggregate(read=Max("read_at"), done=Max("done_at"))
    done = Reading.objects.filter(learner=learner, done_at__isnull=False).count()
    newest = Answer.objects.filter(learner=learner).aggregate(pk=Max("pk"))["pk"]
    return f"{learner.pk} {kept['read']} {kept['done']} {done} {newest}"


def contents_hash(chapter_slug: str) -> str:
    """Changes whenever a title, a goal or the text of any section changes."""
    rows = Section.objects.filter(chapter__slug=chapter_slug).values_list(
        "number", "title", "goal", "state", "content_hash"
    )
    return hashlib.sha256(repr(list(rows)).encode()).hexdigest()[:16]


def today_section(day: datetime.date, name: str = "") -> Today | None:
    """The section `chapter/section`, else the one whose turn it is on `day`: all readable ones in order, one a day."""
    readable = list(
        Section.objects.filter(state=Section.State.PUBLISHED).select_related("chapter").defer("html").order_by("number")
    )
    if not readable:
        return None
    named = [section for section in readable if f"{section.chapter.slug}/{section.slug}" == name]
    section = named[0] if named else readable[day.toordinal() % len(readable)]
    return Today(
        title=section.title,
        goal=section.goal,
        question=section.extras["question"],
        minutes=section.minutes,
        url=url_of(section),
        chapter=section.chapter.title,
    )


def published_names() -> list[str]:
    """All readable sections as `chapter/section`, in order."""
    rows = Section.objects.filter(state=Section.State.PUBLISHED).order_by("chapter_id", "number")
    return [f"{chapter}/{slug}" for chapter, slug in rows.values_list("chapter__slug", "slug")]


def export(learner: Learner) -> dict[str, Any]:
    """Everything this room keeps about a learner."""
    readings = Reading.objects.filter(learner=learner).select_related("section")
    given = Answer.objects.filter(learner=learner).select_related("section").order_by("answered_at")
    return {
        "readings": [
            {"section": r.section.slug, "anchor": r.anchor, "read_at": r.read_at, "done_at": r.done_at}
            for r in readings
        ],
        "answers": [
            {
                "section": a.section.slug,
                "question": a.question,
                "choice": a.choice,
                "right": a.right,
                "answered_at": a.answered_at,
            }
            for a in given
        ],
    }


def overview(learner: Learner) -> Overview | None:
    """This room's part of the learner's page: sections done, and where to go on."""
    kept = list(Reading.objects.filter(learner=learner).select_related("section__chapter").defer("section__html"))
    if not kept:
        return None
    total = Section.objects.filter(state=Section.State.PUBLISHED).count()
    open_ones = [r for r in kept if r.done_at is None and r.section.state == Section.State.PUBLISHED][:3]
    return Overview(
        title="Chapter",
        url=reverse("chapters:contents", args=[FIRST_CHAPTER]),
        figures=[Figure("Sections done", sum(r.done_at is not None for r in kept), of=total)],
        entries=[
            Entry(r.section.title, url_of(r.section) + (f"#{r.anchor}" if r.anchor else ""), "go on reading")
            for r in open_ones
        ],
    )


def _readings(learner: Learner | None) -> dict[int, Reading]:
    return {r.section_id: r for r in Reading.objects.filter(learner=learner)} if learner else {}
