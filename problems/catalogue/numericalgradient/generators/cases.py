"""The cases of Numerical Gradient: three samples, and 25 hidden cases that are drawn anew for every seed.

Two kinds. With a given coarse step (0.25 or 0.5) the answer is plain algebra, so it must be met to 1e-9; only there
does a one-sided difference differ visibly from a central one. With the learner's own default step the answer is the
derivative, to 1e-6 (a default from 1e-3 to 1e-8 is good enough).
Plain float64 arrays come first: the verdict of a submission is that of its first failing case.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from problems.judge.cases import Case, Local, Remote

CUSTOM_FIELDS = (
    ("f", "f(x) = (a Python expression; np is NumPy)", "np.sum(x**2)"),
    ("x", "x (a number or a list of numbers)", "[1.0, 2.0]"),
    ("h", "h (leave empty for your default)", ""),
)


def central(f: Callable[[Any], Any], x: Any, h: float) -> Any:
    """The central difference, entry by entry, in float64: what the statement defines."""
    point = np.array(x, dtype=np.float64)
    slopes = np.empty(point.shape)
    with np.errstate(all="ignore"):
        for index in np.ndindex(point.shape):
            up, down = point.copy(), point.copy()
            up[index] += h
            down[index] -= h
            slopes[index] = (f(up) - f(down)) / (2 * h)
    return slopes if slopes.shape else float(slopes)


def _calls(x: Any) -> int:
    return 2 * int(np.size(x)) + 1


def _fixed(name: str, note: str, f: Callable[[Any], Any], x: Any, h: float, atol: float = 1e-9) -> Case:
    return Case(
        name, "secret", (Remote(f), x, h), central(f, x, h), f"{note}; step given by the caller", atol, 1e-9, _calls(x)
    )  # fmt: skip


def _default(name: str, note: str, f: Callable[[Any], Any], x: Any, truth: Any) -> Case:
    return Case(name, "secret", (Remote(f), x), truth, f"{note}; your default step", 1e-6, 1e-6, _calls(x))


def _sample(
    number: int, f: Callable[[Any], Any], formula: str, x: Any, h: float | None, x_text: str, answer: str
) -> Case:
    arguments = (Remote(f, text=formula), x) if h is None else (Remote(f, text=formula), x, h)
    shown = [("f(x)", formula), ("x", x_text)] + ([("h", f"{h:g}")] if h is not None else []) + [("answer", answer)]
    expected = central(f, x, 1e-5 if h is None else h)
    close = 1e-6 if h is None else 1e-9
    return Case(f"sample {number}", "sample", arguments, expected, formula, close, close, _calls(x), tuple(shown))


def samples() -> list[Case]:
    """The public cases."""
    two = np.array([1.0, 2.0])
    return [
        _sample(
            1, lambda x: x[0] ** 2 + 3 * x[0] * x[1], "x[0]**2 + 3*x[0]*x[1]", two, None, "[1.0, 2.0]", "[8.0, 3.0]"
        ),
        _sample(2, lambda x: x**2, "x**2", 3.0, None, "3.0", "6.0"),
        _sample(3, lambda x: x**3, "x**3", 1.5, 0.5, "1.5", "7.0"),
    ]


def cases(seed: int) -> list[Case]:
    """The hidden cases of one seed."""
    rng = np.random.default_rng([seed, 2025])

    def draw(*shape: int, low: float = 0.4, high: float = 2.4) -> Any:
        """Numbers away from zero, of both signs, with few digits."""
        signs = rng.choice([-1.0, 1.0], size=shape)
        return np.round(rng.uniform(low, high, size=shape), 3) * signs

    def step() -> float:
        return float(rng.choice([0.25, 0.5]))

    a, b, c = (float(v) for v in draw(3))
    w3, w22, w24, w60 = draw(3), draw(2, 2), draw(2, 4), draw(60)
    w232 = draw(2, 3, 2)
    square = draw(4, 4)
    quadratic = square + square.T
    labels = int(rng.integers(0, 4))
    wide = draw(5, 6)
    ints = rng.integers(1, 5, size=4) * rng.choice([-1, 1], size=4)
    logits = draw(4, high=1.8)
    shares = np.exp(logits - logits.max()) / np.sum(np.exp(logits - logits.max()))
    shares[labels] -= 1.0
    zeroed = draw(4)
    zeroed[int(rng.integers(0, 4))] = 0.0
    single = np.array(draw(3), dtype=np.float32)
    q4, e3 = draw(4), draw(3, high=1.2)

    def cubes(x: Any) -> Any:
        return np.sum(w3 * x**3)

    def coupled(x: Any) -> Any:
        return a * x[0] * x[1] * x[2] + b * x[1] ** 2

    def table(x: Any) -> Any:
        return a * x[0, 0] ** 2 * x[1, 2] + b * x[0, 1] * x[1, 0] + c * x[0, 2] ** 3 + x[1, 1]

    def crossed(x: Any) -> Any:
        return a * x[0, 1] ** 3 + b * x[1, 0] ** 2 + c * x[0, 0] * x[1, 1]

    def weighted(weights: Any) -> Callable[[Any], Any]:
        def f(x: Any) -> Any:
            return np.sum(weights * x**3) + np.sum(x[0] * x[-1])

        return f

    def roots(x: Any) -> Any:
        return np.sum(np.sqrt(x))

    def waves(x: Any) -> Any:
        return np.sum(np.cos(x) + x)

    def squares(x: Any) -> Any:
        return np.sum(w3 * x**2)

    def entropy(x: Any) -> Any:
        return np.log(np.sum(np.exp(x - np.max(x)))) + np.max(x) - x[labels]

    plain = [
        _fixed("cubes", "a vector", cubes, draw(3), step()),
        _fixed("coupled", "a vector whose entries are multiplied", coupled, draw(3), step()),
        _fixed("linear", "slopes of both signs", lambda x: np.sum(np.array([-a, b, -c]) * x), draw(3), step()),
        _default("square", "a vector", lambda x: np.sum(w3 * x**2), e3, 2 * w3 * e3),
        _default("two", "two variables", lambda x: np.sin(x[0]) * x[1] ** 2, *_two(draw(2))),
        _fixed("matrix", "a matrix, entries used one by one", table, draw(2, 3), step()),
        _fixed("square-matrix", "a square matrix that is not symmetric", crossed, draw(2, 2) + w22, step()),
        _fixed("cube", "an array of three dimensions", weighted(w232), draw(2, 3, 2), step()),
        _fixed("many", "60 variables", lambda x: np.sum(w60 * x**3) + x[0] * x[59], draw(60), step()),
        _fixed("zero", "a coordinate that is zero", lambda x: np.sum(x**3 + 2 * x), zeroed, step()),
        _fixed("kink", "a kink exactly at the point", lambda x: np.sum(np.abs(x) * w3), np.zeros(3), step()),
        _fixed("small", "very small slopes", lambda x: np.sum(1e-5 * w3 * x**2), draw(3), step(), 1e-12),
        _fixed("nan", "one entry where f is NaN on one side", roots, np.array([0.1, 4.0, 2.0]), 0.25),
        _default("zero-default", "a coordinate that is zero", waves, zeroed, 1 - np.sin(zeroed)),
        _default("cross-entropy", "a softmax cross-entropy", entropy, logits, shares),
        _default("quadratic", "a quadratic form", lambda x: 0.5 * x @ quadratic @ x, q4, quadratic @ q4),
        _fixed("transposed", "a transposed view", weighted(w24.T), draw(2, 4).T, step()),
        _fixed("strided", "a slice with a stride", weighted(wide[:, ::2]), np.array(draw(5, 6))[:, ::2], step()),
        _fixed("integers", "an array of integers", lambda x: np.sum(x**3) / 4, ints, step()),
        _default("integers-default", "an array of integers", lambda x: np.sum(np.sin(x)), ints, np.cos(ints)),
        _default("float32", "a float32 array", squares, single, 2.0 * w3 * single.astype(np.float64)),
        _fixed("list", "a nested list", table, draw(2, 3).tolist(), step()),
        _fixed("number", "a single number", lambda x: math.sin(x) + a * x, float(draw(1)[0]), step()),
        _fixed("whole-number", "a single whole number", lambda x: b * x**3, int(ints[0]), step()),
    ]  # fmt: skip
    at = float(draw(1)[0])
    plain.append(_default("exponential", "a single number", lambda x: math.exp(1.3 * x), at, 1.3 * math.exp(1.3 * at)))
    return plain


def _two(point: Any) -> tuple[Any, Any]:
    """A point and the gradient of sin(x0) * x1**2 there."""
    x, y = point
    return point, np.array([math.cos(x) * y**2, 2 * math.sin(x) * y])


def custom(values: Mapping[str, str]) -> Case:
    """A case of the learner's own f, x and h. f stays text here: it is evaluated in the sandbox only."""
    expression = values.get("f", "").strip()
    if not expression:
        raise ValueError("Give an expression for f, for example np.sum(x**2).")
    if len(expression) > 500 or "\n" in expression:
        raise ValueError("The expression for f must be one line of at most 500 characters.")
    x = _point(values.get("x", ""))
    arguments: tuple[Any, ...] = (Local(f"lambda x: ({expression})"), x)
    step = values.get("h", "").strip()
    if step:
        try:
            h = float(step)
        except ValueError:
            raise ValueError("h must be a number such as 0.5 or 1e-6, or empty for your default.") from None
        if not math.isfinite(h):
            raise ValueError("h must be a finite number.")
        arguments = (*arguments, h)
    shown = (("f(x)", expression), ("x", values.get("x", "").strip())) + ((("h", step),) if step else ())
    return Case("own input", "custom", arguments, None, "own input", shown=shown)


def _point(text: str) -> Any:
    """A number or an array from JSON."""
    wanted = "x must be a number such as 3.0 or a list such as [1.0, 2.0] or [[1, 2], [3, 4]]."
    if len(text) > 2000:
        raise ValueError("x is too long: at most 2000 characters.")
    try:
        data = json.loads(text, parse_constant=lambda name: float("nan"))
        array = np.array(data, dtype=np.float64)
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise ValueError(wanted) from None
    if isinstance(data, bool | str | dict) or data is None or array.ndim > 6 or array.size > 500:
        raise ValueError(wanted)
    return array if array.ndim else float(array)
