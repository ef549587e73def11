"""What the strict content security policy and the design system forbid in any template of any room."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SKIPPED = {"node_modules", ".venv", "var", "dist", "tests", ".git"}
FORBIDDEN = {
    "a style attribute": re.compile(r"<[a-z][^>]*\sstyle\s*=", re.I),
    "a style element": re.compile(r"<style\b", re.I),
    "an event attribute": re.compile(r"<[a-z][^>]*\son[a-z]+\s*=", re.I),
    "a javascript: address": re.compile(r"javascript:", re.I),
    "an inline script": re.compile(r"<script\b(?![^>]*\bsrc=)(?![^>]*type=[\"']application/(ld\+)?json)", re.I),
    "a script without a nonce": re.compile(
        r"<script\b(?![^>]*\bnonce=)(?![^>]*type=[\"']application/(ld\+)?json)", re.I
    ),
    "a file of another site": re.compile(r"<(script|link|img|iframe)\b[^>]*\b(src|href)=[\"'](https?:)?//", re.I),
}


def templates() -> Iterator[Path]:
    for path in sorted(ROOT.rglob("templates/**/*")):
        if path.suffix in {".html", ".svg"} and not SKIPPED.intersection(path.relative_to(ROOT).parts):
            yield path


def offences(text: str) -> list[str]:
    return [name for name, pattern in FORBIDDEN.items() if pattern.search(text)]


@pytest.mark.parametrize(
    ("text", "offence"),
    [
        ('<p style="color:red">', "a style attribute"),
        ("<style>p{}</style>", "a style element"),
        ('<img alt="" onerror="x()">', "an event attribute"),
        ('<a href="javascript:x()">', "a javascript: address"),
        ("<script>x()</script>", "an inline script"),
        ('<script src="/x.js"></script>', "a script without a nonce"),
        ('<link href="https://fonts.example/x.css">', "a file of another site"),
    ],
)
def test_the_search_finds_what_it_is_for(text: str, offence: str) -> None:
    assert offence in offences(text)


def test_the_search_lets_good_markup_pass() -> None:
    assert offences('<p class="style on">one = two</p><script type="application/json">{}</script>') == []


def test_no_template_has_inline_style_or_script() -> None:
    found = {str(path.relative_to(ROOT)): offences(path.read_text(encoding="utf-8")) for path in templates()}
    assert len(found) > 5
    assert {path: names for path, names in found.items() if names} == {}


def test_pages_extend_the_base() -> None:
    """A template that starts its own document would miss the header, the theme and the skip link."""
    own = [path for path in templates() if "<!doctype" in path.read_text(encoding="utf-8").lower()]
    assert [path.name for path in own] == ["base.html"]
