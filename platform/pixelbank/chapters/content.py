"""The chapter's source files: reading, checking, and rendering them. No database here.

A section is a Markdown file with YAML front matter (question, prediction, quiz, cards, sources). `lint` names
everything that a finished section must not lack; a section that does not pass is never published.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import yaml

from pixelbank.chapters.facts import FactError, all_facts
from pixelbank.core import elements, markdown, mathlock

ROOT = Path(__file__).with_name("content")
MAX_WORDS = 900
_FRONT = re.compile(r"---\n(.*?)\n---\n(.*)", re.DOTALL)
_FACT_LINK = re.compile(r"\[([^\]]+)\]\(fact:([\w-]+)\)")
_STATE_LINK = re.compile(r"\]\(#([\w-]+)\?([^)\s]+)\)")
_CONTAINER = re.compile(r"^:::[ \t]+(\S.*)$", re.MULTILINE)
_NOT_PROSE = re.compile(r"```.*?```|\$\$.*?\$\$|\$[^$\n]+\$|^:::[^\n]*|\]\([^)]*\)|^:\s", re.DOTALL | re.MULTILINE)
# A number that says something about the world: it has a decimal point, a power of ten, or four digits and more.
_BARE_NUMBER = re.compile(r"(?<![\w.−-])(?:\d+\.\d+|\d+(?:\.\d+)?e[−-]?\d+|\d{4,})(?![\w.]*\])")


class ContentError(ValueError):
    """A source file that cannot be published: one clear sentence for each thing that is missing."""


@dataclass(frozen=True)
class Planned:
    """A section as the outline names it."""

    number: int
    part: int
    slug: str
    title: str
    goal: str


@dataclass(frozen=True)
class Outline:
    """A chapter's outline: titles of its parts, and its sections in reading order."""

    slug: str
    title: str
    summary: str
    parts: tuple[str, ...]
    sections: tuple[Planned, ...]


@dataclass(frozen=True)
class Source:
    """One section's file: its front matter and its body."""

    slug: str
    front: dict[str, Any]
    body: str

    @property
    def words(self) -> int:
        """Words of prose, formulas and container lines left out."""
        return len(_NOT_PROSE.sub(" ", self.body).split())


@dataclass(frozen=True)
class Published:
    """A section ready to be stored."""

    html: str
    extras: dict[str, Any]
    words: int
    content_hash: str
    minutes: int
    problem: str = ""
    lab: str = ""
    facts: tuple[str, ...] = field(default=())


def chapters() -> Iterator[str]:
    """The slugs of all chapters."""
    for path in sorted(ROOT.glob("*/chapter.yml")):
        yield path.parent.name


def outline(chapter: str) -> Outline:
    """A chapter's outline, from its `chapter.yml`."""
    data = yaml.safe_load((ROOT / chapter / "chapter.yml").read_text(encoding="utf-8"))
    sections: list[Planned] = []
    for part, entry in enumerate(data["parts"], start=1):
        sections += [
            Planned(len(sections) + 1 + i, part, s["slug"], s["title"], s["goal"])
            for i, s in enumerate(entry["sections"])
        ]
    parts = tuple(entry["title"] for entry in data["parts"])
    return Outline(chapter, data["title"], data["summary"], parts, tuple(sections))


def sources(chapter: str) -> dict[str, Source]:
    """Every section that has a file, by slug. Raises ContentError for a file without readable front matter."""
    found = {}
    for path in sorted((ROOT / chapter).glob("*.md")):
        match = _FRONT.fullmatch(path.read_text(encoding="utf-8"))
        if match is None:
            raise ContentError(f"{path.name}: it must begin with front matter between two lines of `---`")
        try:
            front = yaml.safe_load(match[1])
        except yaml.YAMLError as error:
            raise ContentError(f"{path.name}: the front matter is not YAML: {' '.join(str(error).split())}") from None
        found[path.stem] = Source(path.stem, front, match[2])
    return found


def texts(source: Source) -> Iterator[str]:
    """Every piece of Markdown in a section: its body and all texts of the front matter."""
    yield source.body

    def strings(value: Any) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            for key, item in value.items():
                if key not in ("id", "url"):
                    yield from strings(item)
        elif isinstance(value, list):
            for item in value:
                yield from strings(item)

    yield from strings(source.front)


def formulas() -> Iterator[mathlock.Formula]:
    """Every formula of every section: what belongs in the lock file."""
    for chapter in chapters():
        for source in sources(chapter).values():
            for text in texts(source):
                yield from markdown.formulas(text)


def lint(source: Source) -> list[str]:
    """Everything that keeps a section from being published; empty when it is ready."""
    return [f"{source.slug}: {complaint}" for check in (_lint_front, _lint_body) for complaint in check(source)]


def _lint_front(source: Source) -> Iterator[str]:
    front = source.front
    for name in ("question", "minutes", "prediction", "quiz", "cards", "sources"):
        if not front.get(name):
            yield f"the front matter has no {name}"
    asked = [question for question in (front.get("prediction"), *(front.get("quiz") or ())) if question]
    names = [question.get("id", "") for question in asked]
    if len(set(names)) != len(names) or not all(re.fullmatch(r"[a-z0-9-]+", name) for name in names):
        yield "every question needs an id of its own, made of a-z, 0-9 and -"
    for question in asked:
        options = question.get("options") or []
        if len(options) < 2:
            yield f"question {question.get('id')}: give at least two options"
        for option in options:
            if not option.get("feedback"):
                yield f"question {question.get('id')}: the option {option.get('text')!r} has no feedback"
    for question in front.get("quiz") or ():
        if sum(bool(option.get("right")) for option in question.get("options") or ()) != 1:
            yield f"question {question.get('id')}: exactly one option must be right"
    if not 2 <= len(front.get("cards") or ()) <= 4:
        yield "give two to four review cards"
    for entry in front.get("sources") or ():
        if not str(entry.get("url", "")).startswith("https://"):
            yield f"the source {entry.get('text')!r} has no https address"


def _lint_body(source: Source) -> Iterator[str]:
    if source.words > MAX_WORDS:
        yield f"{source.words} words; at most {MAX_WORDS}"
    figures: dict[str, elements.Element] = {}
    for info in _CONTAINER.findall(source.body):
        try:
            element, values = elements.parse(info)
        except elements.ElementError as error:
            yield str(error)
            continue
        if element.frame is not None:
            figures[str(values["id"])] = element
    if not figures:
        yield "it has no figure"
    for name, element in figures.items():
        states = [state for figure, state in _STATE_LINK.findall(source.body) if figure == name]
        if len(set(states)) < 3:
            yield f"the figure {name!r} needs at least three named moments"
        for state in states:
            yield from _lint_state(name, element, state)
    for name, _ in _STATE_LINK.findall(source.body):
        if name not in figures:
            yield f"a link leads to a figure {name!r} that is not there"
    yield from _lint_numbers(source.body, {str(number) for number in source.front.get("given", ())})


def _lint_state(name: str, element: elements.Element, state: str) -> Iterator[str]:
    for key, text in parse_qsl(state):
        attribute = elements.Attribute(int, low=0) if key == "step" else element.attributes.get(key)
        if attribute is None:
            yield f"the figure {name!r} has no setting {key!r}"
            continue
        try:
            attribute.read(key, text)
        except elements.ElementError as error:
            yield f"a link to the figure {name!r}: {error}"


def _lint_numbers(body: str, given: set[str]) -> Iterator[str]:
    """`given` are numbers that the text chooses (an example's step, say) and does not claim."""
    for shown, name in _FACT_LINK.findall(body):
        fact = all_facts().get(name)
        if fact is None:
            yield f"there is no fact {name!r} in facts.yml"
        elif fact.shown != shown:
            yield f"the text shows {shown!r} for {name}, facts.yml {fact.shown!r}"
    # What is left after facts, links, formulas and code are taken out must not hold an unsourced number.
    rest = _FACT_LINK.sub(" ", body)
    rest = re.sub(r"\[[^\]]*\]\([^)]*\)", " ", rest)
    for number in _BARE_NUMBER.findall(_NOT_PROSE.sub(" ", rest)):
        if number not in given:
            yield f"the number {number} has no fact behind it (or list it under `given`, if it is a choice)"


def publish(chapter: str, source: Source) -> Published:
    """Render a section. Raises ContentError with everything that is wrong."""
    if complaints := lint(source):
        raise ContentError("; ".join(complaints))
    how = markdown.Rendering(resolve_link=_resolve, block_ids=True, schemes=("fact:",))

    def line(text: str) -> str:
        return markdown.render_inline(text, how)

    def question(data: dict[str, Any], *, marked: bool) -> dict[str, Any]:
        options = [
            {
                "text": line(str(option["text"])),
                "feedback": line(option["feedback"]),
                "right": bool(option.get("right")) if marked else None,
            }
            for option in data["options"]
        ]
        return {"id": data["id"], "ask": line(data["ask"]), "options": options}

    front = source.front
    used = tuple(dict.fromkeys(name for _, name in _FACT_LINK.findall(source.body)))
    try:
        html = markdown.render(source.body, how)
        extras = {
            "question": line(front["question"]),
            "prediction": question(front["prediction"], marked=False),
            "quiz": [question(entry, marked=True) for entry in front["quiz"]],
            "cards": [{"front": line(card["front"]), "back": line(card["back"])} for card in front["cards"]],
            "sources": [{"text": line(entry["text"]), "url": entry["url"]} for entry in front["sources"]],
            "facts": [
                {"name": name, "shown": fact.shown, "how": fact.how, "source": fact.source}
                for name in used
                for fact in [all_facts()[name]]
            ],
            "problem_note": line(front.get("problem_note", "")),
        }
    except (markdown.MarkdownError, FactError) as error:
        raise ContentError(f"{source.slug}: {error}") from None
    made = json.dumps([html, extras], sort_keys=True, ensure_ascii=False)
    return Published(
        html=html,
        extras=extras,
        words=source.words,
        content_hash=hashlib.sha256(made.encode()).hexdigest(),
        minutes=int(front["minutes"]),
        problem=front.get("problem", ""),
        lab=front.get("lab", ""),
        facts=used,
    )


def _resolve(href: str) -> dict[str, str] | None:
    """Facts lead to their source at the end of the page; a link with a state drives the figure it names."""
    if href.startswith("fact:"):
        return {"href": f"#fact-{href.removeprefix('fact:')}", "class": "fact"}
    figure, question_mark, state = href.removeprefix("#").partition("?")
    if href.startswith("#") and question_mark:
        return {"href": f"#{figure}", "class": "moment", "data-figure": figure, "data-state": state}
    return None
