"""The picture of a piece of evidence (`problems/judge/evidence.py`) as a scene, and the same in words and as a table.

The pictures' twin is `platform/frontend/cores/evidence.ts`, which draws at the width of the screen; both are tested on
`tests/vectors/evidence.json`. A ring is a point of the formula, a square one of the learner's, a diamond one that moved
together with other entries: told apart without colour.
"""

from __future__ import annotations

import math
from typing import Any, Final

from pixelbank.core.scene import Scene, line, num

WIDTH: Final = 360
SIDE: Final = 10
TOP: Final = 54
BOTTOM: Final = 46
HEIGHT: Final = 280
ROW: Final = 34
LETTER: Final = 8.5
FARTHEST: Final = 4.0


def scene(drawing: dict[str, Any], width: float = WIDTH) -> Scene:
    """The drawing at this width, in CSS pixels."""
    return _curve(drawing, width) if drawing["kind"] == "curve" else _strip(drawing, width)


def _square(x: float, y: float) -> str:
    return f"M{num(x - 4)} {num(y - 4)}h8v8h-8z"


def _diamond(x: float, y: float) -> str:
    return f"M{num(x)} {num(y - 6)}l6 6l-6 6l-6 -6z"


def _curve(d: dict[str, Any], width: float) -> Scene:
    drawn = Scene(width, HEIGHT)
    left, right, bottom = SIDE, width - SIDE, HEIGHT - BOTTOM
    half = float(d["curve"][-1][0])
    near = [p for p in d["yours"] if abs(p["t"]) <= half]
    heights: list[float] = [v for _, v in d["curve"] if v is not None]
    heights += [p["f"] for p in [*near, *d["wanted"]] if p["f"] is not None]
    low, high = (min(heights), max(heights)) if heights else (0.0, 1.0)
    pad = (high - low) * 0.1 or abs(high) * 0.1 or 1.0
    low, high = low - pad, high + pad

    def px(t: float) -> float:
        return left + (t + half) / (2 * half) * (right - left)

    def py(v: float) -> float:
        return bottom - (v - low) / (high - low) * (bottom - TOP)

    def straight(slope: float, t0: float, v0: float) -> str:
        """The part of a straight line that lies inside the picture."""
        start, end = -half, half
        if slope:
            one, two = t0 + (low - v0) / slope, t0 + (high - v0) / slope
            start, end = max(start, min(one, two)), min(end, max(one, two))
        if end <= start:
            return ""
        return line([(px(t), py(v0 + slope * (t - t0))) for t in (start, end)])

    drawn.path(f"M{num(left)} {num(bottom)}H{num(right)}", "axis")
    for t, name, value in d["ticks"]:
        drawn.path(f"M{num(px(t))} {TOP}V{num(bottom)}", "rule")
        drawn.text(px(t), bottom + 18, name, "label-soft")
        drawn.text(px(t), bottom + 37, value, "label-soft")
    drawn.path(line([(px(t), math.nan if v is None else py(v)) for t, v in d["curve"]]), "line curve")
    wanted, own = d["slopes"]
    first = d["wanted"][0]
    if wanted is not None and first["f"] is not None:
        drawn.path(straight(wanted, first["t"], first["f"]), "line compute")
    through = _through(d, own)
    if own is not None and through is not None:
        drawn.path(straight(own, *through), "line error-mark dashed")
    for p in d["wanted"]:
        if p["f"] is not None:
            drawn.circle(px(p["t"]), py(p["f"]), 8, "line compute")
    for p in near:
        if p["f"] is not None:
            drawn.path(_square(px(p["t"]), py(p["f"])), "error-mark")
    expected, got = d["said"]
    drawn.text(left, 16, f"○ the formula: slope {expected}", "compute", "start")
    drawn.text(left, 37, f"■ yours: slope {got}" if got else "■ yours", "error-mark", "start")
    return drawn


def _through(d: dict[str, Any], slope: float | None) -> tuple[float, float] | None:
    """Where the learner's line goes through: their two points if it is the line through them, else the point x."""
    points = [(p["t"], p["f"]) for p in d["yours"] if p["f"] is not None]
    if slope is not None and len(points) == 2:
        (t0, v0), (t1, v1) = points
        if t1 != t0 and abs((v1 - v0) / (t1 - t0) - slope) <= 1e-6 * max(1.0, abs(slope)):
            return t0, v0
    return None if d["at"] is None else (0.0, d["at"])


def _strip(d: dict[str, Any], width: float) -> Scene:
    rows = d["rows"]
    left = SIDE + LETTER * max(len(row["entry"]) for row in rows) + 12
    right, height = width - SIDE, TOP + ROW * len(rows) + 30
    drawn = Scene(width, height)
    far: float = max([1.0, *(abs(at) for row in rows for at, _ in row["yours"] if abs(at) <= FARTHEST)]) + 0.5

    def px(at: float) -> float:
        return left + (at + far) / (2 * far) * (right - left)

    bottom = TOP + ROW * len(rows)
    for at, name in ((-1.0, "−h"), (0.0, "0"), (1.0, "+h")):
        drawn.path(f"M{num(px(at))} {TOP}V{num(bottom)}", "rule")
        drawn.text(px(at), bottom + 20, name, "label-soft")
    together = False
    for number, row in enumerate(rows):
        y = TOP + ROW * number + ROW / 2
        drawn.path(f"M{num(left)} {num(y)}H{num(right)}", "rule")
        drawn.text(SIDE, y + 5, row["entry"], "code", "start")
        for at in (-1.0, 1.0):
            drawn.circle(px(at), y, 8, "line compute")
        for at, with_others in row["yours"]:
            together = together or with_others
            if abs(at) > FARTHEST:
                end = right if at > 0 else left
                drawn.path(f"M{num(end)} {num(y)}l{-9 if at > 0 else 9} -6v12z", "error-mark")
            else:
                drawn.path(_diamond(px(at), y) if with_others else _square(px(at), y), "error-mark")
    drawn.text(SIDE, 16, "○ the formula", "compute", "start")
    drawn.text(SIDE + 118, 16, "■ your calls of f", "error-mark", "start")
    if together:
        drawn.text(SIDE, 37, "◆ moved together with other entries", "error-mark", "start")
    return drawn


# --- in words ------------------------------------------------------------------------------------------------------


def sentence(drawing: dict[str, Any]) -> str:
    """What the picture shows, for somebody who does not see it."""
    step = f"h = {drawing['h']}" if drawing["given"] else f"your own step, about {drawing['h']}"
    if drawing["kind"] == "curve":
        yours = _list([p["x"] for p in sorted(drawing["yours"], key=lambda p: float(p["t"]))])
        wanted = _list([p["x"] for p in drawing["wanted"]])
        expected, got = drawing["said"]
        called = f"You called f at {yours}; the formula calls it at {wanted}, with {step}."
        if yours == wanted:
            called = f"You called f at {yours}, where the formula calls it too, with {step}."
        slopes = f" The line through those two points has slope {expected}" + (f"; yours has {got}." if got else ".")
        return called + slopes
    parts = []
    for row in drawing["rows"]:
        moved = _list([f"{at:+g}".replace("-", "−") for at, _ in row["yours"]]) or "nothing"
        parts.append((row["entry"], moved))
    same = {moved for _, moved in parts}
    if len(same) == 1:
        who = "Each entry" if not drawing["left"] else f"Each of the first {len(parts)} entries"
        told = f"{who} was moved by {same.pop()} steps"
    else:
        told = "; ".join(f"{entry} was moved by {moved}" for entry, moved in parts)
    others = any(together for row in drawing["rows"] for _, together in row["yours"])
    return (
        f"{told}{', together with other entries' if others else ''}. "
        f"The formula moves each one alone, by −1 and +1 steps, with {step}."
    )


def table(drawing: dict[str, Any]) -> dict[str, Any]:
    """The numbers of the picture: head and rows."""
    if drawing["kind"] == "curve":
        rows = [["the formula", p["x"], p["fx"]] for p in drawing["wanted"]]
        rows += [["yours", p["x"], p["fx"]] for p in drawing["yours"][:12]]
        return {"head": ["Who", "Point", "f there"], "rows": rows}
    rows = [
        [row["entry"], "−1, +1", ", ".join(f"{at:+g}".replace("-", "−") for at, _ in row["yours"]) or "not moved"]
        for row in drawing["rows"]
    ]
    return {"head": ["Entry", "The formula, in steps", "Yours, in steps"], "rows": rows}


def _list(words: list[str]) -> str:
    """A, B and C; at most six."""
    kept = words[:6]
    if len(words) > 6:
        return ", ".join(kept) + " and so on"
    return " and ".join([", ".join(kept[:-1]), kept[-1]] if len(kept) > 1 else kept)
