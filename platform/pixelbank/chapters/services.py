"""Writes of the chapters' room: publishing content, keeping answers and places."""

from __future__ import annotations

import re

from django.db import transaction
from django.utils import timezone

from pixelbank.chapters import content
from pixelbank.chapters.models import Answer, Chapter, Reading, Section
from pixelbank.learners.models import Learner

_ANCHOR = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


class NoSuchChoice(ValueError):
    """An answer to a question or an option that the section does not have."""


@transaction.atomic
def load_content() -> str:
    """Bring the stored chapters up to date with their source files; loading the same files again changes nothing.

    Raises content.ContentError, and stores nothing, when a section is not fit to be published.
    """
    published = changed = planned = 0
    for slug in content.chapters():
        outline = content.outline(slug)
        sources = content.sources(slug)
        if strangers := set(sources) - {section.slug for section in outline.sections}:
            raise content.ContentError(f"{min(strangers)}.md is not in the outline of {slug}")
        chapter, _ = Chapter.objects.update_or_create(
            slug=slug, defaults={"title": outline.title, "summary": outline.summary, "parts": list(outline.parts)}
        )
        for entry in outline.sections:
            section = Section.objects.filter(chapter=chapter, slug=entry.slug).first() or Section(
                chapter=chapter, slug=entry.slug
            )
            for name in ("number", "part", "title", "goal"):
                setattr(section, name, getattr(entry, name))
            if entry.slug in sources:
                published += 1
                changed += _publish(section, content.publish(slug, sources[entry.slug]))
            else:
                planned += 1
                section.state = Section.State.PLANNED
            section.save()
        chapter.sections.exclude(slug__in=[entry.slug for entry in outline.sections]).update(
            state=Section.State.PLANNED, html=""
        )
    return f"{published} sections published ({changed} changed), {planned} planned"


def _publish(section: Section, made: content.Published) -> bool:
    """Put a rendered section into its row; True when it differs from what was there."""
    section.state = Section.State.PUBLISHED
    section.minutes, section.words = made.minutes, made.words
    section.problem, section.lab = made.problem, made.lab
    if section.content_hash == made.content_hash:
        return False
    section.html, section.extras, section.content_hash = made.html, made.extras, made.content_hash
    section.published_at = timezone.now()
    return True


def answer(learner: Learner, section: Section, question: str, choice: int) -> Answer:
    """Keep one answer. Raises NoSuchChoice when the section has no such question or option."""
    prediction = section.extras["prediction"]
    asked = next((q for q in [prediction, *section.extras["quiz"]] if q["id"] == question), None)
    if asked is None or not 0 <= choice < len(asked["options"]):
        raise NoSuchChoice("This question or answer is no longer part of the section. Reload the page and try again.")
    right = asked["options"][choice]["right"]
    return Answer.objects.create(learner=learner, section=section, question=question, choice=choice, right=right)


def keep_place(learner: Learner, section: Section, anchor: str) -> None:
    """Remember the block that the learner reads; an anchor that no page of ours makes is ignored."""
    if _ANCHOR.fullmatch(anchor):
        Reading.objects.update_or_create(
            learner=learner, section=section, defaults={"anchor": anchor, "read_at": timezone.now()}
        )


def mark(learner: Learner, section: Section, *, done: bool) -> None:
    """Mark a section as done, or as not done any more. The first time it was done is kept."""
    now = timezone.now()
    reading, _ = Reading.objects.get_or_create(learner=learner, section=section, defaults={"read_at": now})
    reading.done_at = (reading.done_at or now) if done else None
    reading.save(update_fields=["done_at"])


def merge(source: Learner, target: Learner) -> None:
    """At sign-up: one reading a section. The newer place wins; a section that either one did stays done."""
    kept = {reading.section_id: reading for reading in Reading.objects.filter(learner=target)}
    for reading in Reading.objects.filter(learner=source):
        own = kept.get(reading.section_id)
        if own is None:
            continue
        if reading.read_at > own.read_at:
            own.anchor, own.read_at = reading.anchor, reading.read_at
        times = [time for time in (own.done_at, reading.done_at) if time is not None]
        own.done_at = min(times) if times else None
        own.save(update_fields=["anchor", "read_at", "done_at"])
        reading.delete()
