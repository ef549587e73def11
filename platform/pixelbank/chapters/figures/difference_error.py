"""What the difference figure shows: the curve near x with its secants, and both errors against the step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape

from pixelbank.chapters.cores.difference_error import (
    FUNCTIONS,
    Estimate,
    Region,
    best,
    describe,
    error_curve,
    estimate,
    number,
)
from pixelbank.chapters.figures.table import data_table
from pixelbank.core.elements import Value
from pixelbank.core.scene import Scene, line, num, to_svg

WIDTH, HEIGHT = 420, 330
LEFT, RIGHT, TOP, BOTTOM = 52, 404, 30, 282
SAMPLES = 320
LOW, HIGH = -16.0, 2.0
"""Powers of ten on the error axis; a smaller error, also zero, is drawn on its bottom line."""


def secants(name: str, x: float, h: float) -> Scene:
    """The function on [x - 3h, x + 3h], its true slope, and the two secants. The window shrinks with h."""
    function = FUNCTIONS[name]
    e = estimate(name, x, h)
    drawing = Scene(WIDTH, HEIGHT)
    half = 3 * h
    offsets = [2 * half * i / SAMPLES - half for i in range(SAMPLES + 1)]
    # x + t is rounded to the nearest float64; drawn over the wanted t, that makes the stairs for tiny h.
    values = [function.f(x + t) for t in offsets]
    here, right, left = function.f(x), function.f(x + h), function.f(x - h)
    finite = [v for v in (*values, here, right, left) if math.isfinite(v)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    if high == low:
        high, low = high + abs(high) * 2**-52 + 1e-300, low - abs(low) * 2**-52
    pad = (high - low) * 0.12

    def px(t: float) -> float:
        return LEFT + (t + half) / (2 * half) * (RIGHT - LEFT)

    def py(v: float) -> float:
        return BOTTOM - (v - (low - pad)) / ((high + pad) - (low - pad)) * (BOTTOM - TOP)

    def straight(slope: float, t0: float, y0: float) -> str:
        """The part of a straight line that lies inside the box."""
        every = [(px(t), py(y0 + slope * (t - t0))) for t in offsets]
        inside = [(a, b) for a, b in every if TOP <= b <= BOTTOM]
        return line([inside[0], inside[-1]]) if len(inside) > 1 else ""

    drawing.path(f"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}", "axis")
    for offset, label in ((-1, "x − h"), (0, "x"), (1, "x + h")):
        at = px(offset * h)
        drawing.path(f"M{num(at)} {TOP}V{BOTTOM}", "rule")
        drawing.text(at, BOTTOM + 20, label, "label-soft")
    drawing.text((LEFT + RIGHT) / 2, BOTTOM + 40, f"window: x ± {number(3 * h)}", "label-soft small")
    drawing.path(line([(px(t), py(v)) for t, v in zip(offsets, values, strict=True)]), "line curve")
    drawing.path(straight(function.derivative(x), 0, here), "line gradients thin")
    drawing.path(straight(e.forward, 0, here), "line error-mark dashed")
    drawing.path(straight(e.central, -h, left), "line compute")
    for t, v in ((-h, left), (h, right)):
        if math.isfinite(v):
            drawing.circle(px(t), py(v), 5, "compute")
    if math.isfinite(here):
        drawing.path(f"M{num(px(0) - 5)} {num(py(here) - 5)}h10v10h-10z", "error-mark")
    drawing.text(LEFT + 10, TOP + 4, f"true slope {number(function.derivative(x), 6)}", "gradients", "start")
    drawing.text(LEFT + 10, TOP + 23, f"● central {number(e.central, 6)}", "compute", "start")
    drawing.text(LEFT + 10, TOP + 42, f"■ forward {number(e.forward, 6)}", "error-mark", "start")
    return drawing


def errors(name: str, x: float, h: float) -> Scene:
    """Both errors against h, both axes in powers of ten, with the present step marked."""
    curve = error_curve(name, x)
    drawing = Scene(WIDTH, HEIGHT)

    def px(step: float) -> float:
        return LEFT + (math.log10(step) + 16) / 16 * (RIGHT - LEFT)

    def py(error: float) -> float:
        if math.isnan(error):
            return math.nan
        power = LOW if error == 0 else min(HIGH, max(LOW, math.log10(error) if math.isfinite(error) else HIGH))
        return BOTTOM - (power - LOW) / (HIGH - LOW) * (BOTTOM - TOP)

    drawing.path(f"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}", "axis")
    for power in range(-16, 3, 3):
        y = BOTTOM - (power - LOW) / (HIGH - LOW) * (BOTTOM - TOP)
        drawing.path(f"M{LEFT} {num(y)}H{RIGHT}", "rule")
        drawing.text(LEFT - 6, y + 4, f"1e{power}".replace("-", "−"), "label-soft small", "end")
    for power in range(-16, 1, 4):
        drawing.text(px(float(f"1e{power}")), BOTTOM + 20, f"1e{power}".replace("-", "−"), "label-soft small")
    drawing.text((LEFT + RIGHT) / 2, BOTTOM + 40, "step h (powers of ten)", "label-soft small")
    drawing.text(LEFT - 44, TOP - 14, "absolute error (powers of ten)", "label-soft small", "start")
    drawing.path(line([(px(e.h), py(e.forward_error)) for e in curve]), "line error-mark dashed")
    drawing.path(line([(px(e.h), py(e.central_error)) for e in curve]), "line compute")
    now = estimate(name, x, h)
    at = px(h)
    if LEFT <= at <= RIGHT:
        drawing.path(f"M{num(at)} {TOP}V{BOTTOM}", "line now")
        _marks(drawing, at, py(now.forward_error), py(now.central_error))
    drawing.text(RIGHT - 156, TOP - 14, "■ forward", "error-mark", "start")
    drawing.text(RIGHT - 66, TOP - 14, "● central", "compute", "start")
    return drawing


def _marks(drawing: Scene, at: float, forward: float, central: float) -> None:
    if math.isfinite(forward):
        drawing.path(f"M{num(at - 5)} {num(forward - 5)}h10v10h-10z", "error-mark")
    if math.isfinite(central):
        drawing.circle(at, central, 5.5, "compute")


def table_rows(curve: list[Estimate]) -> list[list[str]]:
    """One row for each power of ten."""
    return [
        [number(e.h), number(e.forward, 12), number(e.forward_error), number(e.central, 12), number(e.central_error)]
        for e in curve[::6]
    ]


TABLE_HEAD = ["Step h", "Forward", "Its error", "Central", "Its error"]


def best_sentence(name: str, x: float) -> str:
    """Where each method does best, and its largest error there."""
    curve = error_curve(name, x)
    forward, central = best(curve, "forward"), best(curve, "central")
    luck = " A single step can be better by luck." if forward or central else ""
    return f"Best steps here: forward {_region(forward)}, central {_region(central)}.{luck}"


def _region(found: Region | None) -> str:
    if found is None:
        return "none"
    return f"h = {number(found.low)} to {number(found.high)} (largest error {number(found.error)})"


def first_frame(values: Mapping[str, Value]) -> str:
    """The figure without JavaScript: both pictures at the given step, the sentences and the table."""
    name, x, h = str(values["f"]), float(values["x"]), float(values["h"])
    sentence = describe(name, x, h)
    label = f"{FUNCTIONS[name].label} near x = {number(x, 6)}"
    return (
        '<div class="picture pair">'
        + to_svg(secants(name, x, h), f"The function {label} with a forward and a central secant. {sentence}")
        + to_svg(errors(name, x, h), f"Error against step for {label}. {best_sentence(name, x)}")
        + f'</div><p class="sentence">{escape(sentence)}</p><p class="count">{escape(best_sentence(name, x))}</p>'
        + data_table(f"Errors for {label}", TABLE_HEAD, table_rows(error_curve(name, x)))
    )
