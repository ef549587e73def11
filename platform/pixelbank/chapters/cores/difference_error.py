"""Forward and central differences in real float64: the twin of `frontend/cores/difference-error.ts`.

Functions made of +, -, *, / and square roots give the same bits here and in a browser, because IEEE 754 fixes
their rounding. exp, sin and tanh may differ in the last bit between two libraries, and a difference quotient
enlarges that bit by 1/h.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Function:
    """A function, its exact derivative, a good place to start, and whether its values are the same everywhere."""

    label: str
    f: Callable[[float], float]
    derivative: Callable[[float], float]
    x: float
    exact: bool


def _root(x: float) -> float:
    return math.sqrt(x) if x >= 0 else math.nan


def _inverse(x: float) -> float:
    return 1 / x if x else math.inf


def _exp(x: float) -> float:
    return math.exp(x) if x < 709 else math.inf


FUNCTIONS: dict[str, Function] = {
    "cube": Function("x³", lambda x: x * x * x, lambda x: 3 * x * x, 1.5, True),
    "square": Function("x²", lambda x: x * x, lambda x: 2 * x, 3.0, True),
    "inverse": Function("1/x", _inverse, lambda x: -_inverse(x * x), 0.5, True),
    "root": Function("√x", _root, lambda x: _inverse(2 * _root(x)), 2.0, True),
    "offset": Function("1000000 + x²", lambda x: 1e6 + x * x, lambda x: 2 * x, 3.0, True),
    "exp": Function("eˣ", _exp, _exp, 1.0, False),
    "sin": Function("sin x", math.sin, math.cos, 0.7, False),
    "tanh": Function("tanh x", math.tanh, lambda x: 1 - math.tanh(x) * math.tanh(x), 1.0, False),
}

STEPS: tuple[float, ...] = (
    *(float(f"{m}e{e}") for e in range(-16, 0) for m in ("1", "1.5", "2", "3", "5", "7")),
    1.0,
)
"""The steps on the slider and of the error curves, smallest first; written as decimals so that both twins agree."""


@dataclass(frozen=True)
class Estimate:
    """Both estimates of f'(x) at one step and how far they are from the truth (absolute errors)."""

    h: float
    forward: float
    central: float
    forward_error: float
    central_error: float


def estimate(name: str, x: float, h: float) -> Estimate:
    """Evaluate both formulas, exactly as they are written, in float64. `h` must be positive."""
    function = FUNCTIONS[name]
    right, here, left = function.f(x + h), function.f(x), function.f(x - h)
    truth = function.derivative(x)
    forward = (right - here) / h
    central = (right - left) / (2 * h)
    return Estimate(h, forward, central, abs(forward - truth), abs(central - truth))


def error_curve(name: str, x: float) -> list[Estimate]:
    """One estimate for each step of STEPS."""
    return [estimate(name, x, h) for h in STEPS]


REGION = 5
"""Neighbouring steps that are judged together: their largest is five to seven times their smallest."""


@dataclass(frozen=True)
class Region:
    """Neighbouring steps from `low` to `high`; `middle` is one of them, `error` the largest error at any of them."""

    low: float
    high: float
    middle: float
    error: float


def best(curve: list[Estimate], method: str) -> Region | None:
    """Where a method ('forward' or 'central') does best on the curve; larger steps win a tie.

    Rounding makes a single step exact by luck, so that the smallest error on the curve says little. Sought are
    REGION neighbouring steps whose largest error is as small as possible. None where no error is finite.
    """
    errors = [e.forward_error if method == "forward" else e.central_error for e in curve]
    found: Region | None = None
    for start in range(len(curve) - REGION + 1):
        near = errors[start : start + REGION]
        if all(map(math.isfinite, near)) and (found is None or max(near) <= found.error):
            steps = [e.h for e in curve[start : start + REGION]]
            found = Region(steps[0], steps[-1], steps[REGION // 2], max(near))
    return found


def number(value: float, digits: int = 2) -> str:
    """Text with that many significant digits: `1.5e−7`, `6.75`, `not a number`. Written alike by both twins."""
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "infinite"
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    if 1e-3 <= abs(value) < 1e5:
        return _bare(f"{value:.{max(0, digits - 1 - int(exponent))}f}").replace("-", "−")
    return f"{_bare(mantissa)}e{int(exponent)}".replace("-", "−")


def _bare(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def describe(name: str, x: float, h: float) -> str:
    """One sentence: both errors at this step."""
    e = estimate(name, x, h)
    return (
        f"{FUNCTIONS[name].label} at x = {number(x, 6)}, h = {number(h, 3)}: the forward difference "
        f"{_off(e.forward_error)}, the central one {_off(e.central_error)}."
    )


def _off(error: float) -> str:
    return f"is off by {number(error)}" if math.isfinite(error) else "cannot be compared with a slope here"
