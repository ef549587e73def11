"""What every page loads, measured on the real build (`./dev test` makes it before the tests run)."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from pixelbank.web import vite

KB = 1000


def weight(files: tuple[str, ...]) -> int:
    return sum(len(gzip.compress((Path(settings.FRONTEND_DIST) / file).read_bytes(), 9)) for file in files)


@pytest.fixture
def needed() -> vite.Needed:
    if sentence := vite.problem():
        pytest.skip(sentence)
    return vite.manifest().needed("styles/main.css", "main.ts", fonts=("source-serif-4-latin-wght-normal.woff2",))


def test_the_script_of_every_page_is_small(needed: vite.Needed) -> None:
    assert 0 < weight(needed.scripts + needed.preloads) < 3 * KB


def test_the_style_sheet_and_the_preloaded_font_are_small(needed: vite.Needed) -> None:
    assert 0 < weight(needed.styles) < 20 * KB
    assert len(needed.fonts) == 1
    assert (Path(settings.FRONTEND_DIST) / needed.fonts[0]).stat().st_size < 60 * KB


def test_the_style_sheet_holds_every_layer_and_no_data_address(needed: vite.Needed) -> None:
    """Fonts and images stay files: the policy forbids `data:` fonts, and files are cached."""
    sheet = (Path(settings.FRONTEND_DIST) / needed.styles[0]).read_text(encoding="utf-8")
    assert "url(data:" not in sheet
    for layer in ("tokens", "base", "layout", "pieces", "rooms", "helpers", "print"):
        assert f"@layer {layer}" in sheet


def test_built_files_are_cached_for_good_and_others_are_not(needed: vite.Needed, client: Client) -> None:
    for file in needed.styles + needed.scripts + needed.fonts:
        assert "immutable" in client.get(f"/static/{file}").headers["Cache-Control"]
    assert "immutable" not in client.get("/static/web/favicon.svg").headers["Cache-Control"]
