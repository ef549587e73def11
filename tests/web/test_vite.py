from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from django.template import Context, Template
from django.test import RequestFactory

from pixelbank.web import vite
from pixelbank.web.vite import Manifest, NotBuilt

BUILD: dict[str, dict[str, Any]] = {
    "main.ts": {"file": "assets/main-1a.js", "isEntry": True, "imports": ["_lit.js", "_shared.js"]},
    "_lit.js": {"file": "assets/lit-2b.js", "imports": ["_shared.js"]},
    "_shared.js": {"file": "assets/shared-3c.js", "imports": ["_lit.js"], "css": ["assets/shared-4d.css"]},
    "styles/main.css": {"file": "assets/style-5e.css", "isEntry": True},
    "../../node_modules/fonts/files/serif.woff2": {"file": "assets/serif-6f.woff2"},
}


def built(dist: Path, build: dict[str, dict[str, Any]] = BUILD) -> Path:
    path = dist / ".vite" / "manifest.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(build))
    return path


@pytest.fixture
def dist(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings.FRONTEND_DIST = tmp_path
    monkeypatch.setattr(vite, "_manifests", {})
    return tmp_path


def rendered(source: str) -> str:
    request = RequestFactory().get("/")
    request.csp_nonce = "n0nce"  # type: ignore[attr-defined]
    return Template("{% load vite %}" + source).render(Context({"request": request}))


def test_css_entry_becomes_a_stylesheet_and_never_a_script(dist: Path) -> None:
    built(dist)
    assert rendered('{% vite "styles/main.css" %}') == '<link rel="stylesheet" href="/static/assets/style-5e.css">'


def test_script_entry_brings_its_imports_and_their_styles_once(dist: Path) -> None:
    built(dist)
    assert rendered('{% vite "main.ts" %}').splitlines() == [
        '<link rel="stylesheet" href="/static/assets/shared-4d.css">',
        '<link rel="modulepreload" href="/static/assets/shared-3c.js">',
        '<link rel="modulepreload" href="/static/assets/lit-2b.js">',
        '<script type="module" src="/static/assets/main-1a.js" nonce="n0nce"></script>',
    ]


def test_fonts_are_found_by_file_name_and_preloaded_first(dist: Path) -> None:
    built(dist)
    first, *_ = rendered('{% vite "styles/main.css" fonts="serif.woff2" %}').splitlines()
    assert first == '<link rel="preload" as="font" type="font/woff2" href="/static/assets/serif-6f.woff2" crossorigin>'


def test_without_a_build_the_page_has_one_sentence_and_no_link(dist: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert rendered('{% vite "main.ts" %}') == ""
    assert "npm run build" in caplog.text
    assert "npm run build" in rendered("{% build_notice %}")
    assert vite.problem() == vite.MISSING


def test_with_a_build_there_is_no_notice(dist: Path) -> None:
    built(dist)
    assert rendered("{% build_notice %}") == ""
    assert vite.problem() is None


def test_unknown_entry_says_which(dist: Path) -> None:
    built(dist)
    with pytest.raises(NotBuilt, match=r"no entry 'other\.ts'"):
        vite.manifest().needed("other.ts")


def test_half_written_manifest_is_no_traceback(dist: Path) -> None:
    built(dist).write_text('{"main.ts":')
    with pytest.raises(NotBuilt, match="not built"):
        vite.manifest().needed("main.ts")


@pytest.mark.parametrize(("watch", "file"), [(True, "assets/main-new.js"), (False, "assets/main-1a.js")])
def test_a_new_build_is_seen_only_where_asked_for(tmp_path: Path, watch: bool, file: str) -> None:
    path = built(tmp_path)
    manifest = Manifest(tmp_path, watch=watch)
    assert manifest.needed("main.ts").scripts == ("assets/main-1a.js",)
    built(tmp_path, {"main.ts": {"file": "assets/main-new.js"}})
    os.utime(path, ns=(1, 1))
    assert manifest.needed("main.ts").scripts == (file,)
