"""The cases of Numerical Gradient: three samples, 25 hidden cases, feedback cases and bonus cases.

Three streams of numbers. The hidden cases about the form of x are the same for everybody, so that a verdict on them can
be repeated; the others are drawn anew for each submission from its seed, so that no answer can be written down in
advance. The feedback cases have small numbers from a stream of their own: they alone may be shown.

Two kinds of steps. With a given coarse step (0.25 or 0.5) the answer is plain algebra, so it must be met to 1e-9; only
there does a one-sided difference differ visibly from a central one. With the learner's own default step the answer is
the derivative, to 1e-6 (a default from 1e-3 to 1e-8 is good enough).
Plain float64 arrays come first: the verdict of a submission is that of its first failing case.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from problems.judge.cases import Case, Local, ReadOnly, Remote

FIXED_SEED = 20251130
FIXED = frozenset({
    "matrix", "square-matrix", "cube", "many", "kink", "nan", "transposed", "strided", "integers", "integers-default",
    "float32", "list", "whole-number",
})  # fmt: skip
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
    """The hidden cases: those in FIXED are the same for every seed."""
    drawn, fixed = _hidden(seed), _hidden(FIXED_SEED)
    return [kept if kept.name in FIXED else new for new, kept in zip(drawn, fixed, strict=True)]


def _hidden(seed: int) -> list[Case]:
    """A case of each property, all drawn from one seed."""
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


# --- cases that may be shown -----------------------------------------------------------------------------------------

NAMES = {"np": np}


def _formula(text: str) -> Callable[[Any], Any]:
    """The function that a text says: what is shown is what is evaluated."""
    made: Callable[[Any], Any] = eval(f"lambda x: {text}", dict(NAMES))  # noqa: S307 -- texts of this file only
    return made


def _x_text(x: Any) -> str:
    """x as a learner would type it."""
    if not isinstance(x, np.ndarray):
        return repr(x)
    if x.size > 12:
        return f"np.arange({x.size}) / 20 + 0.5"
    dtype = ", dtype=np.float32" if x.dtype == np.float32 else ""
    if x.ndim == 2 and x.flags.f_contiguous and not x.flags.c_contiguous:
        return f"np.array({x.T.tolist()}).T"
    if not x.flags.c_contiguous:
        return f"np.array({x.base.tolist()})[::2]"
    entries = x.tolist() if x.dtype.kind == "i" else np.round(x.astype(np.float64), 3).tolist()
    return f"np.array({entries}{dtype})"


def _open(
    name: str, note: str, text: str, x: Any, h: float | None = None, truth: Any = None, atol: float = 1e-9
) -> Case:
    """A feedback case: with a given step its answer is the central difference, else ``truth``."""
    f = _formula(text)
    answer = central(f, x, h) if h is not None else truth
    step = [] if h is None else [("h", f"{h:g}")]
    said = repr(float(f"{answer:.10g}")) if isinstance(answer, float) else str(_brief(answer))
    shown = (("f(x)", text), ("x", _x_text(x)), *step, ("answer", said))
    arguments = (Remote(f, text=text), x) if h is None else (Remote(f, text=text), x, h)
    close = (atol, 1e-9) if h is not None else (1e-6, 1e-6)
    return Case(name, "feedback", arguments, answer, note, *close, _calls(x), shown)


def _brief(array: Any) -> Any:
    """Nested lists with at most ten digits a number; a long array by its first entries."""
    if array.size > 12:
        return "[" + ", ".join(f"{entry:.10g}" for entry in array.flat[:4]) + ", \N{HORIZONTAL ELLIPSIS}]"
    rounded = [float(f"{entry:.10g}") for entry in array.flat]
    return np.array(rounded).reshape(array.shape).tolist()


def feedback(seed: int) -> list[Case]:
    """One case for each property of the hidden ones, named like it, with numbers that are easy to check by hand."""
    rng = np.random.default_rng([seed, 77])
    a, b = (int(v) for v in rng.integers(2, 5, size=2))
    h = float(rng.choice([0.25, 0.5]))

    def pick(*shape: int) -> Any:
        """Halves from 0.5 to 2.5, of both signs."""
        return rng.integers(1, 6, size=shape) / 2 * rng.choice([-1.0, 1.0], size=shape)

    v2, v3, m22, m23 = pick(2), pick(3), pick(2, 2), pick(2, 3)
    ints = np.array([1, -2, 3]) * int(rng.choice([-1, 1]))
    one = float(pick(1)[0])
    zero = np.array([0.0, one])
    small = np.array([0.7, -1.1], dtype=np.float32)
    lying = np.array([[1.0, 2.0, 0.5], [3.0, -1.0, 1.5]])
    gaps = np.array([1.0, 9.0, -2.0, 9.0, 0.5, 9.0])
    table = f"{a}*x[0, 0]**2*x[1, 2] + {b}*x[0, 1]*x[1, 0]"
    shares = np.exp(v3) / np.sum(np.exp(v3))
    return [
        _open("cubes", "a vector", "np.sum(x**3)", v3, h),
        _open("coupled", "a vector whose entries are multiplied", f"{a}*x[0]*x[1]*x[2] + x[1]**2", v3, h),
        _open("linear", "slopes of both signs", f"{a}*x[1] - {b}*x[0]", v2, h),
        _open("square", "a vector", f"{a}*np.sum(x**2)", v2, truth=2 * a * v2),
        _open("two", "two variables", "np.sin(x[0])*x[1]**2", *_two_open(v2)),
        _open("matrix", "a matrix, entries used one by one", table, m23, h),
        _open("square-matrix", "a square matrix that is not symmetric", f"{a}*x[0, 1]**3 + x[1, 0]**2", m22, h),
        _open("cube", "an array of three dimensions", "np.sum(x**3) + x[0, 0, 0]*x[1, 1, 1]", pick(2, 2, 2), h),
        _open("many", "60 variables", "np.sum(x**3) + x[0]*x[59]", np.arange(60) / 20 + 0.5, h),
        _open("zero", "a coordinate that is zero", "np.sum(x**3 + 2*x)", zero, h),
        _open("kink", "a kink exactly at the point", f"{a}*np.sum(np.abs(x))", np.zeros(2), h),
        _open("small", "very small slopes", "1e-5*np.sum(x**3)", v2, h, atol=1e-12),
        _open("nan", "one entry where f is NaN on one side", "np.sum(np.sqrt(x))", np.array([0.25, 4.0]), 0.5),
        _open("zero-default", "a coordinate that is zero", "np.sum(np.cos(x) + x)", zero, truth=1 - np.sin(zero)),
        _open("cross-entropy", "a softmax cross-entropy", "np.log(np.sum(np.exp(x))) - x[1]", v3,
              truth=shares - np.array([0.0, 1.0, 0.0])),
        _open("quadratic", "a quadratic form", f"{a}*x[0]**2 + x[0]*x[1]", v2,
              truth=np.array([2 * a * v2[0] + v2[1], v2[0]])),
        _open("transposed", "a transposed view", f"np.sum(x**3) + {a}*x[0, 1]", lying.T, h),
        _open("strided", "a slice with a stride", f"np.sum(x**3) + {a}*x[0]", gaps[::2], h),
        _open("integers", "an array of integers", "np.sum(x**3)/4", ints, h),
        _open("integers-default", "an array of integers", "np.sum(np.sin(x))", ints, truth=np.cos(ints)),
        _open("float32", "a float32 array", f"{a}*np.sum(x**2)", small, truth=2 * a * small.astype(np.float64)),
        _open("list", "a nested list", table, m23.tolist(), h),
        _open("number", "a single number", f"np.sin(x) + {a}*x", one, h),
        _open("whole-number", "a single whole number", f"{b}*x**3", int(ints[1]), h),
        _open("exponential", "a single number", "np.exp(1.3*x)", one, truth=1.3 * math.exp(1.3 * one)),
    ]  # fmt: skip


def _two_open(point: Any) -> tuple[Any, None, Any]:
    """Point, no step, and the gradient of sin(x0) * x1**2."""
    x, truth = _two(point)
    return x, None, truth


def bonus() -> list[Case]:
    """Three cases beyond the statement, outside of the verdict: all of them right is worth a star."""
    point = np.array([1.5, -0.5, 2.0])
    cube = _formula("np.sum(x**3)")
    slopes = central(cube, point, 0.5)
    writes = Local("lambda x: [float(np.sum(x**3)), x.fill(0.0)][0]")
    none, locked = "an empty array", "an array that cannot be written to"
    return [
        Case("empty", "bonus", (Remote(cube), np.zeros(0), 0.5), np.zeros(0), none, max_calls=1),
        Case("read-only", "bonus", (Remote(cube), ReadOnly(point), 0.5), slopes, locked, max_calls=7),
        Case("f-writes", "bonus", (writes, point, 0.5), slopes, "an f that changes the point it is given"),
    ]


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
