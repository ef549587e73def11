"""The colours of the design system, read from the style sheet and measured (WCAG 2.2 relative luminance)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TOKENS = Path(__file__).parents[2] / "platform" / "frontend" / "styles" / "tokens.css"
PAIR = re.compile(r"--([\w-]+):\s*light-dark\((#[0-9a-f]{6}),\s*(#[0-9a-f]{6})\);")
THEMES = ("light", "dark")
MEANINGS = ("compute", "communication", "parameters", "gradients", "error")
SURFACES = ("paper", "raised", "sunken")
TEXTS = (
    "ink",
    "ink-soft",
    "accent",
    "good",
    "bad",
    *(f"{meaning}-ink" for meaning in MEANINGS),
    "code-keyword",
    "code-string",
    "code-number",
    "code-name",
    "code-comment",
)


def colours() -> dict[str, dict[str, str]]:
    found = PAIR.findall(TOKENS.read_text(encoding="utf-8"))
    return {theme: {name: pair[at] for name, *pair in found} for at, theme in enumerate(THEMES)}


def luminance(colour: str) -> float:
    def linear(channel: float) -> float:
        return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def below(theme: str, needed: float, pairs: list[tuple[str, str]]) -> list[str]:
    values = colours()[theme]
    ratios = {pair: contrast(values[pair[0]], values[pair[1]]) for pair in pairs}
    return [f"{a} on {b}: {ratio:.2f}" for (a, b), ratio in ratios.items() if ratio < needed]


def test_the_measure_itself() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


def test_every_colour_has_two_values() -> None:
    written = re.findall(r"light-dark\(", TOKENS.read_text(encoding="utf-8"))
    assert len(written) == len(colours()["light"]) > 30


@pytest.mark.parametrize("theme", THEMES)
def test_text_is_at_least_seven_to_one(theme: str) -> None:
    pairs = [(text, surface) for text in TEXTS for surface in SURFACES]
    pairs += [("accent", "accent-wash"), ("good", "good-wash"), ("bad", "bad-wash"), ("on-accent", "accent")]
    pairs += [(f"{meaning}-ink", f"{meaning}-wash") for meaning in MEANINGS]
    pairs += [("ink", f"{meaning}-wash") for meaning in MEANINGS]
    assert below(theme, 7, pairs) == []


@pytest.mark.parametrize("theme", THEMES)
def test_controls_focus_and_data_are_at_least_three_to_one(theme: str) -> None:
    marks = ("line-strong", "focus", "accent", "neutral", *MEANINGS)
    assert below(theme, 3, [(mark, surface) for mark in marks for surface in SURFACES]) == []


@pytest.mark.parametrize("theme", THEMES)
def test_data_colours_stand_out_from_their_own_wash(theme: str) -> None:
    assert below(theme, 2.5, [(meaning, f"{meaning}-wash") for meaning in MEANINGS]) == []
