"""Writes of the blog: rendering and saving posts, loading those that ship with the site."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from pathlib import Path

import yaml
from django.db import transaction

from pixelbank.blog.models import DailyPost
from pixelbank.core import markdown, mathlock

CONTENT = Path(__file__).with_name("content")
_FRONT = re.compile(r"---\n(.*?)\n---\n(.*)", re.DOTALL)


def publish(post: DailyPost) -> None:
    """Render the post's text and save it. Raises markdown.MarkdownError, and saves nothing, when it cannot be read."""
    post.html = html_of(post.text)
    post.save()


def html_of(text: str) -> str:
    """A post's text as HTML. Formulas that are not in the lock file are rendered now. Raises MarkdownError."""
    return markdown.render(text, markdown.Rendering(math=mathlock.lookup_or_render))


@transaction.atomic
def load_content() -> str:
    """Put the shipped posts into the database, each once: a post that is there, perhaps edited since, is left alone."""
    added = 0
    for day, front, text in _files():
        if not DailyPost.objects.filter(date=day).exists():
            publish(DailyPost(date=day, text=text, **front))
            added += 1
    return f"{DailyPost.objects.count()} posts ({added} added)"


def formulas() -> Iterator[mathlock.Formula]:
    """The formulas of the shipped posts, for the lock file."""
    for _, _, text in _files():
        yield from markdown.formulas(text)


def _files() -> Iterator[tuple[datetime.date, dict[str, str], str]]:
    for path in sorted(CONTENT.glob("*.md")):
        match = _FRONT.fullmatch(path.read_text(encoding="utf-8"))
        if match is None:
            raise markdown.MarkdownError(f"{path.name}: it must begin with front matter between two lines of `---`")
        yield datetime.date.fromisoformat(path.stem), yaml.safe_load(match[1]), match[2]
