"""A drawing as plain data: shapes with a class each. Twin of `frontend/cores/scene.ts`.

A figure's core turns its state into a scene; the server writes the first one as SVG, the browser draws all
later ones. Both twins must produce the same scene, so the first frame never jumps when the script arrives.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape

Shape = dict[str, float | str]


@dataclass
class Scene:
    """Shapes in a box of `width` by `height` units (CSS pixels at natural size)."""

    width: float
    height: float
    shapes: list[Shape] = field(default_factory=list)

    def rect(self, x: float, y: float, w: float, h: float, css: str, opacity: float = 1) -> None:
        self.shapes.append({"k": "rect", "x": r2(x), "y": r2(y), "w": r2(w), "h": r2(h), "c": css, "o": r2(opacity)})

    def text(self, x: float, y: float, text: str, css: str, anchor: str = "middle") -> None:
        self.shapes.append({"k": "text", "x": r2(x), "y": r2(y), "t": text, "c": css, "a": anchor})

    def path(self, d: str, css: str) -> None:
        self.shapes.append({"k": "path", "d": d, "c": css})

    def circle(self, x: float, y: float, r: float, css: str) -> None:
        self.shapes.append({"k": "circle", "x": r2(x), "y": r2(y), "r": r2(r), "c": css})


def r2(value: float) -> float:
    """Two decimals, halves upwards: the same in both languages, unlike their own rounding."""
    return math.floor(value * 100 + 0.5) / 100


def num(value: float) -> str:
    """A coordinate as text: `12`, `12.5`, never `12.0`."""
    return f"{r2(value):.2f}".rstrip("0").rstrip(".") if r2(value) else "0"


def line(points: list[tuple[float, float]]) -> str:
    """A polyline as path data. Points that are not finite break the line."""
    parts: list[str] = []
    pen_up = True
    for x, y in points:
        if not (math.isfinite(x) and math.isfinite(y)):
            pen_up = True
            continue
        parts.append(f"{'M' if pen_up else 'L'}{num(x)} {num(y)}")
        pen_up = False
    return "".join(parts)


def to_svg(scene: Scene, label: str, css: str = "") -> str:
    """The scene as an SVG image with `label` as its text alternative."""
    return (
        f'<svg class="scene {escape(css)}" viewBox="0 0 {num(scene.width)} {num(scene.height)}" '
        f'width="{num(scene.width)}" height="{num(scene.height)}" role="img" aria-label="{escape(label)}">'
        + "".join(_shape(shape) for shape in scene.shapes)
        + "</svg>"
    )


def _shape(s: Shape) -> str:
    css = f'class="{escape(str(s["c"]))}"'
    if s["k"] == "rect":
        box = f'x="{_n(s["x"])}" y="{_n(s["y"])}" width="{_n(s["w"])}" height="{_n(s["h"])}"'
        return f'<rect {css} {box} rx="3" fill-opacity="{_n(s["o"])}"/>'
    if s["k"] == "circle":
        return f'<circle {css} cx="{_n(s["x"])}" cy="{_n(s["y"])}" r="{_n(s["r"])}"/>'
    if s["k"] == "path":
        return f'<path {css} d="{escape(str(s["d"]))}"/>'
    place = f'x="{_n(s["x"])}" y="{_n(s["y"])}" text-anchor="{escape(str(s["a"]))}"'
    return f"<text {css} {place}>{escape(str(s['t']))}</text>"


def _n(value: float | str) -> str:
    return num(float(value))
