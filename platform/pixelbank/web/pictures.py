"""The computed pictures of the home page, drawn by the same cores as the chapter's figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

from django.utils.safestring import SafeString, mark_safe

from pixelbank.chapters.cores import difference_error, ring_allreduce
from pixelbank.chapters.figures.difference_error import secants
from pixelbank.chapters.figures.ring_allreduce import scene as ring_scene
from pixelbank.core.scene import Scene, line, to_svg

Picture = Callable[[], SafeString]

WIDTH, HEIGHT = 480, 340
LEFT, RIGHT, TOP, BOTTOM = 54, 462, 36, 284
SMALLEST_H, LARGEST_H = -14, 0
SMALLEST_ERROR, LARGEST_ERROR = -12, 0
"""Powers of ten at the ends of the two axes."""


def _x(h: float) -> float:
    return LEFT + (math.log10(h) - SMALLEST_H) / (LARGEST_H - SMALLEST_H) * (RIGHT - LEFT)


def _y(error: float) -> float:
    power = math.log10(error) if error > 0 else SMALLEST_ERROR
    power = min(LARGEST_ERROR, max(SMALLEST_ERROR, power))
    return BOTTOM - (power - SMALLEST_ERROR) / (LARGEST_ERROR - SMALLEST_ERROR) * (BOTTOM - TOP)


def _power(exponent: int) -> str:
    superscript = str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{superscript}" if exponent else "1"


def _best_step(curve: list[difference_error.Estimate], method: str) -> difference_error.Estimate:
    """The estimate in the middle of the steps at which a method does best."""
    region = difference_error.best(curve, method)
    if region is None:
        raise ValueError("no step of the curve gives a finite error")
    return next(e for e in curve if e.h == region.middle)


@lru_cache(maxsize=1)
def error_against_step() -> SafeString:
    """How wrong a numerical derivative of eˣ at 1 is for each step h, in float64: SVG, computed once."""
    curve = [e for e in difference_error.error_curve("exp", 1.0) if e.h >= 10.0**SMALLEST_H]
    drawing = Scene(WIDTH, HEIGHT)
    for exponent in range(SMALLEST_ERROR, LARGEST_ERROR + 1, 3):
        y = _y(10.0**exponent)
        drawing.path(f"M{LEFT} {y:.1f}H{RIGHT}", "rule")
        drawing.text(LEFT - 8, y + 5, _power(exponent), "label-soft", "end")
    for exponent in range(SMALLEST_H, LARGEST_H + 1, 2):
        drawing.text(_x(10.0**exponent), BOTTOM + 22, _power(exponent), "label-soft")
    drawing.path(f"M{LEFT} {TOP}V{BOTTOM}H{RIGHT}", "axis")
    drawing.text(LEFT - 44, TOP - 18, "error of the derivative (powers of ten)", "label-soft", "start")
    drawing.text(RIGHT, BOTTOM + 44, "step h (powers of ten)", "label-soft", "end")
    drawing.path(line([(_x(e.h), _y(e.forward_error)) for e in curve]), "line error-mark dashed")
    drawing.path(line([(_x(e.h), _y(e.central_error)) for e in curve]), "line compute")
    forward, central = _best_step(curve, "forward"), _best_step(curve, "central")
    x, y = _x(forward.h), _y(forward.forward_error)
    drawing.path(f"M{x - 6:.1f} {y - 6:.1f}h12v12h-12z", "error-mark")
    drawing.circle(_x(central.h), _y(central.central_error), 6.5, "compute")
    drawing.text(_x(1e-3), _y(4e-3), "forward", "error-mark", "end")
    drawing.text(RIGHT, _y(1e-7), "central", "compute", "end")
    sentence = (
        f"The error falls as h shrinks, then rises again when rounding takes over: the forward difference is best near "
        f"h = {difference_error.number(forward.h)}, the central one near h = {difference_error.number(central.h)}."
    )
    return mark_safe(to_svg(drawing, sentence))  # noqa: S308 -- to_svg escapes every text


@lru_cache(maxsize=1)
def ring_first_step(devices: int = 4) -> SafeString:
    """The first step of a ring all-reduce among `devices` devices: SVG."""
    frames = ring_allreduce.ring_allreduce(ring_allreduce.example_gradients(devices))
    return mark_safe(to_svg(ring_scene(frames[1]), ring_allreduce.describe(frames, 1)))  # noqa: S308 -- as above


@lru_cache(maxsize=1)
def secant_lines() -> SafeString:
    """A curve, its slope at a point, and the two secants that estimate it: SVG."""
    name, x, h = "exp", 1.0, 0.5
    sentence = difference_error.describe(name, x, h)
    return mark_safe(to_svg(secants(name, x, h), sentence))  # noqa: S308 -- as above


def loss_curve(points: Sequence[tuple[int, float]]) -> SafeString | None:
    """The loss of a run against its step: SVG, or None for fewer than two finite points."""
    kept = [(step, loss) for step, loss in points if math.isfinite(loss)]
    if len(kept) < 2:
        return None
    (first, start), (last, end) = kept[0], kept[-1]
    high, low = max(loss for _, loss in kept), min(loss for _, loss in kept)
    span = (high - low) or 1.0
    right = RIGHT - 40  # room for the label of the last value

    def place(step: int, loss: float) -> tuple[float, float]:
        x = LEFT + (step - first) / (last - first) * (right - LEFT)
        return x, BOTTOM - (loss - low) / span * (BOTTOM - TOP - 24)

    drawing = Scene(WIDTH, HEIGHT)
    drawing.path(f"M{LEFT} {TOP}V{BOTTOM + 8}H{RIGHT}", "axis")
    drawing.text(LEFT - 44, TOP - 18, "loss (nats per character)", "label-soft", "start")
    drawing.text(RIGHT, BOTTOM + 44, "step", "label-soft", "end")
    drawing.text(LEFT, BOTTOM + 28, str(first), "label-soft")
    drawing.text(right, BOTTOM + 28, str(last), "label-soft")
    drawing.path(line([place(step, loss) for step, loss in kept]), "line compute")
    drawing.text(LEFT + 10, place(first, start)[1] - 8, f"{start:.2f}", "compute", "start")
    x, y = place(last, end)
    drawing.circle(x, y, 5, "compute")
    drawing.text(x + 10, y + 5, f"{end:.2f}", "compute", "start")
    sentence = f"The loss went from {start:.2f} at step {first} to {end:.2f} at step {last}."
    return mark_safe(to_svg(drawing, sentence))  # noqa: S308 -- as above
