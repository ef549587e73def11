"""Plain text out of markup: for names, titles and summaries, and to count words."""

from __future__ import annotations

import html
import re


def words(names: str) -> frozenset[str]:
    """A set of names that are written as one text."""
    return frozenset(names.split())


# Only names that HTML knows count as tags: the title "</kubernetes>" and "List<int>" are text, "<b>" is not.
_ELEMENTS = words(
    "a abbr acronym address applet area article aside audio b base big blockquote body br button canvas center "
    "cite code col colgroup data dd del details dfn dialog dir div dl dt em embed fieldset figcaption figure font "
    "footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins kbd label legend li "
    "link main map mark math meta meter nav noscript object ol optgroup option output p param picture pre progress "
    "q rp rt ruby s samp script section select small source span strike strong style sub summary sup svg table "
    "tbody td template textarea tfoot th thead time title tr track tt u ul var video wbr"
)
_TAG = re.compile(rf"</?(?:{'|'.join(sorted(_ELEMENTS))})(?=[\s/>])(?>[^<>]*)>|<!--.*?(?:-->|\Z)", re.I | re.S)
_BLOCK = re.compile(r"</?(?:p|div|br|li|tr|h[1-6]|pre|blockquote|table|ul|ol|dd|dt|section|article|figure)\b", re.I)
_UNSEEN = re.compile(r"<(script|style|template|noscript)(?=[\s/>])", re.I)
_WORD = re.compile(r"[^\W_]+(?:['’\-.][^\W_]+)*")
WORDS_PER_MINUTE = 220
"""A usual figure for silent reading of non-fiction (238 in Brysbaert 2019), lowered for technical text."""


# Control characters, surrogates, and the overrides of writing direction that can disguise a name.
_BLANK = re.compile("[\x00-\x20\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")


def squeeze(text: str) -> str:
    """White space, line breaks and control characters become single spaces; a no-break space stays inside."""
    return _BLANK.sub(" ", text).strip(" \xa0")


def text_of(markup: str) -> str:
    """The words of a piece of HTML, as one line of plain text."""
    spaced = _BLOCK.sub(lambda found: " " + found[0], _without_unseen(markup))
    return squeeze(html.unescape(_TAG.sub("", spaced)))


def _without_unseen(markup: str) -> str:
    """Drop scripts and styles with their content, in one pass however many of them are never closed."""
    kept: list[str] = []
    unclosed: set[str] = set()
    start = 0
    for opener in _UNSEEN.finditer(markup):
        name = opener[1].lower()
        if opener.start() < start or name in unclosed:
            continue
        close = re.compile(rf"</{name}\s*>", re.I).search(markup, opener.end())
        if close is None:
            unclosed.add(name)
            continue
        kept += [markup[start : opener.start()], " "]
        start = close.end()
    return "".join(kept) + markup[start:]


def name_of(value: str | None) -> str | None:
    """A person's name or a tag as plain text, or None when nothing is left.

    Entities are resolved, tags dropped, scripts and styles dropped with what is inside them.
    """
    if not value:
        return None
    return text_of(value)[:500] or None


def title_of(value: str | None, *, is_html: bool) -> str | None:
    """A title as plain text. A headline such as ``<script>`` is a headline: where dropping the tags leaves
    nothing, the raw text is the title. A whole script with its content is none."""
    if not value:
        return None
    if not is_html:
        return squeeze(value)[:500] or None
    return name_of(value) or squeeze(_without_unseen(value))[:500] or None


def count_words(text: str) -> int:
    """Words of plain text; numbers count, punctuation does not."""
    return sum(1 for _ in _WORD.finditer(text))


def reading_minutes(words: int) -> int:
    """Whole minutes to read so many words, at least 1."""
    return max(1, round(words / WORDS_PER_MINUTE))


def excerpt(text: str, limit: int = 320) -> str:
    """The start of ``text``, at most ``limit`` characters, cut after a sentence or else after a word."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    sentence = max(head.rfind(mark) for mark in (". ", "! ", "? "))
    if sentence >= limit // 2:
        return head[: sentence + 1]
    return head[: head.rfind(" ") if " " in head else len(head)].rstrip(" ,;:—-") + "…"
