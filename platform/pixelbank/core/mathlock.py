"""TeX becomes MathML before anybody asks for a page.

Temml (a Node program) renders every formula once; the result is committed in a lock file keyed by
sha256(mode, TeX). Serving needs Python only, and no mathematics script ever reaches a browser. Texts that an
administrator writes later are rendered when they are saved, by the same script.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

Formula = tuple[str, bool]
"""TeX and whether it stands on a line of its own."""

_PLATFORM = Path(__file__).resolve().parents[2]
LOCK = _PLATFORM / "pixelbank" / "chapters" / "content" / "math.lock.json"
SCRIPT = _PLATFORM / "frontend" / "math" / "render.mjs"

_sources: dict[str, Callable[[], Iterable[Formula]]] = {}


class MathError(ValueError):
    """A formula that has no MathML, or that Temml cannot read: one clear sentence."""


def key(formula: Formula) -> str:
    """The lock file's key of a formula."""
    tex, display = formula
    return hashlib.sha256(f"{'display' if display else 'inline'}\0{tex}".encode()).hexdigest()


def register_source(name: str, formulas: Callable[[], Iterable[Formula]]) -> None:
    """Name a body of texts whose formulas belong in the lock file (called from AppConfig.ready)."""
    _sources[name] = formulas


def all_formulas() -> set[Formula]:
    """Every formula of every registered source."""
    return {formula for formulas in _sources.values() for formula in formulas()}


@functools.lru_cache(maxsize=4)
def _read(path: Path, _modified: int) -> dict[str, str]:
    locked: dict[str, dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))
    return {name: entry["mathml"] for name, entry in locked.items()}


def locked() -> dict[str, str]:
    """MathML by key. Read again only when the file changes."""
    if not LOCK.exists():
        return {}
    return _read(LOCK, LOCK.stat().st_mtime_ns)


def lookup(formula: Formula) -> str:
    """The committed MathML of a formula. Raises MathError when it is missing."""
    try:
        return locked()[key(formula)]
    except KeyError:
        raise MathError(
            f"there is no MathML yet for the formula {formula[0]!r}; run: python manage.py render_math"
        ) from None


def lookup_or_render(formula: Formula) -> str:
    """As `lookup`, but a formula that is not in the lock file is rendered now (for texts saved by hand)."""
    return locked().get(key(formula)) or render([formula])[key(formula)]


def render(formulas: Iterable[Formula]) -> dict[str, str]:
    """Run Temml once over `formulas`: MathML by key. Raises MathError, naming the formula that is wrong."""
    wanted = [{"key": key((tex, display)), "tex": tex, "display": display} for tex, display in formulas]
    if not wanted:
        return {}
    try:
        done = subprocess.run(
            [_node(), str(SCRIPT)], input=json.dumps(wanted), capture_output=True, text=True, timeout=60, check=False
        )
    except subprocess.TimeoutExpired:
        raise MathError("Temml did not finish within 60 seconds") from None
    if done.returncode:
        raise MathError(done.stderr.strip() or "Temml failed without a message")
    return {entry["key"]: tidied(entry["mathml"]) for entry in json.loads(done.stdout)}


def _node() -> str:
    """The system's Node, or the one that ./dev installed beside this Python."""
    places = os.pathsep.join([os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)])
    node = shutil.which("node", path=places)
    if node is None:
        raise MathError("formulas cannot be rendered here: Node is not installed; run ./dev setup")
    return node


def tidied(mathml: str) -> str:
    """Drop `style=`, which a strict content security policy refuses (the style sheet covers Temml's classes).

    Every prime is an operator without space around it in a row of its own, as Temml writes several; one alone,
    straight in the superscript, would get an operator's space in Chromium.
    """
    mathml = re.sub(r'\sstyle="[^"]*"', "", mathml)
    mathml = mathml.replace('<mo class="tml-prime">', '<mo lspace="0em" rspace="0em" class="tml-prime">')
    return re.sub(
        r'<mo lspace="0em" rspace="0em" class="tml-prime tml-(\w+)-pad">′</mo>',
        r'<mrow class="tml-\1-pad"><mo lspace="0em" rspace="0em" class="tml-prime">′</mo></mrow>',
        mathml,
    )
