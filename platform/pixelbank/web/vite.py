"""Which built files a page needs: reads the manifest that Vite leaves beside its output.

Own forty lines instead of django-vite, which writes a CSS entry as `<script type=module src=….css>` in production
(its issue 166), so pages come unstyled.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

MISSING = (
    "The styles and scripts of these pages are not built, so they look plain. Run `npm ci` and `npm run build`, "
    "or start the site with `./dev run`, which does both."
)


class NotBuilt(LookupError):
    """The build, or one entry of it, does not exist: one clear sentence."""


@dataclass(frozen=True)
class Needed:
    """What some entries need, as paths below the build folder, in the order in which they should be written."""

    fonts: tuple[str, ...] = ()
    styles: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    preloads: tuple[str, ...] = ()


class Manifest:
    """Vite's `.vite/manifest.json` below `dist`. Read once; with `watch` read again whenever the file changes."""

    def __init__(self, dist: Path, *, watch: bool = False) -> None:
        self._path = dist / ".vite" / "manifest.json"
        self._watch = watch
        self._read_at: int | None = None
        self._chunks: dict[str, dict[str, Any]] = {}

    def needed(self, *entries: str, fonts: tuple[str, ...] = ()) -> Needed:
        """What `entries` (sources such as `main.ts`) need. Raises NotBuilt."""
        chunks = self._load()
        styles: dict[str, None] = {}
        scripts: dict[str, None] = {}
        preloads: dict[str, None] = {}
        for entry in entries:
            chunk = self._chunk(chunks, entry)
            if chunk["file"].endswith(".css"):
                styles[chunk["file"]] = None
                continue
            scripts[chunk["file"]] = None
            for imported in self._with_imports(chunks, chunk):
                styles.update(dict.fromkeys(imported.get("css", ())))
                if imported is not chunk:
                    preloads[imported["file"]] = None
        found = tuple(self._chunk(chunks, self._ending_with(chunks, font))["file"] for font in fonts)
        return Needed(found, tuple(styles), tuple(scripts), tuple(preloads))

    def _load(self) -> dict[str, dict[str, Any]]:
        if self._chunks and not self._watch:
            return self._chunks
        try:
            changed_at = self._path.stat().st_mtime_ns
            if changed_at != self._read_at:
                self._chunks = json.loads(self._path.read_text(encoding="utf-8"))
                self._read_at = changed_at
        except (FileNotFoundError, json.JSONDecodeError) as error:
            raise NotBuilt(MISSING) from error
        return self._chunks

    @staticmethod
    def _chunk(chunks: dict[str, dict[str, Any]], entry: str) -> dict[str, Any]:
        try:
            return chunks[entry]
        except KeyError:
            raise NotBuilt(
                f"The build has no entry {entry!r}. Add it to `input` in vite.config.ts, or build again."
            ) from None

    @staticmethod
    def _ending_with(chunks: dict[str, dict[str, Any]], name: str) -> str:
        """The source whose path ends with `name`: packages lie outside the Vite root, at paths nobody should spell."""
        return next((source for source in chunks if source.endswith(f"/{name}")), name)

    def _with_imports(self, chunks: dict[str, dict[str, Any]], chunk: dict[str, Any]) -> list[dict[str, Any]]:
        """`chunk` and, once each, everything it imports statically, however deep."""
        found: dict[str, dict[str, Any]] = {chunk["file"]: chunk}
        waiting = list(chunk.get("imports", ()))
        while waiting:
            imported = self._chunk(chunks, waiting.pop())
            if imported["file"] not in found:
                found[imported["file"]] = imported
                waiting.extend(imported.get("imports", ()))
        return list(found.values())


_manifests: dict[Path, Manifest] = {}


def manifest() -> Manifest:
    """The manifest of the configured build."""
    dist = Path(settings.FRONTEND_DIST)
    if dist not in _manifests:
        _manifests[dist] = Manifest(dist, watch=settings.DEBUG)
    return _manifests[dist]


def problem() -> str | None:
    """For /readyz: None when the build is there, else what to do."""
    try:
        manifest().needed("main.ts", "styles/main.css")
    except NotBuilt as error:
        return str(error)
    return None
