"""Reads of the blog: posts, and what stands on the home page today."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils import timezone

from pixelbank.blog.models import DailyPost


@dataclass(frozen=True)
class Today:
    """What the home page shows: a section as `chapter/section`, a problem's name, and the day's post if there is one.

    `section` and `problem` are empty only when nothing is published.
    """

    day: datetime.date
    section: str
    problem: str
    post: DailyPost | None


def posts() -> QuerySet[DailyPost]:
    """All posts up to today, newest first. A post with a later date waits for its day."""
    return DailyPost.objects.filter(date__lte=timezone.localdate())


def post(day: datetime.date) -> DailyPost | None:
    """The post of a day that has come."""
    return posts().filter(date=day).first()


def today(sections: Sequence[str], problems: Sequence[str], day: datetime.date | None = None) -> Today:
    """The topic and the problem of `day` (default: today) among those that are published now.

    The day's post decides. Without one, or where it names something that is not published, all take turns, one a day,
    so that everybody sees the same on the same day.
    """
    day = day or timezone.localdate()
    written = DailyPost.objects.filter(date=day).first()
    return Today(
        day=day,
        section=_turn(sections, written.section if written else "", day),
        problem=_turn(problems, written.problem if written else "", day),
        post=written,
    )


def _turn(names: Sequence[str], wanted: str, day: datetime.date) -> str:
    if wanted in names:
        return wanted
    return names[day.toordinal() % len(names)] if names else ""
