"""Wrong programs made by rule: four ways to walk over the entries, times one error in the slope or in the result.

Nobody wrote these for the matcher, so they say more about it than programs that its author has seen.
"""

from __future__ import annotations

from collections.abc import Iterator

WALKS = {
    "closure": '''
import numpy as np

def along(f, p, place):
    def phi(t):
        q = p.copy()
        q[place] += t
        return f(q)
    return phi

def numerical_gradient(f, x, h={default}):
    p = np.array(x, dtype=float)
    g = np.zeros(p.shape)
    {start}
    for place in np.ndindex(p.shape):
        phi = along(f, p, place)
        g[place] = {slope}
    {end}
''',
    "product": '''
import itertools
import numpy as np

def numerical_gradient(f, x, h={default}):
    x = np.asarray(x, dtype=np.float64)
    {start}
    found = {{}}
    for place in itertools.product(*map(range, x.shape)):
        mask = np.zeros(x.shape)
        mask[place] = 1.0
        phi = lambda t: f(x + t * mask)
        found[place] = {slope}
    g = np.empty(x.shape)
    for place, value in found.items():
        g[place] = value
    {end}
''',
    "in-place": '''
import numpy as np

class Bench:
    def __init__(self, f, x):
        self.f = f
        self.point = np.array(x, dtype=float, order="C")
        self.flat = self.point.reshape(-1)

    def at(self, k, t):
        kept = self.flat[k]
        self.flat[k] = kept + t
        try:
            return self.f(self.point)
        finally:
            self.flat[k] = kept

def numerical_gradient(f, x, h={default}):
    bench = Bench(f, x)
    {start}
    slopes = []
    for k in range(bench.flat.size):
        phi = lambda t: bench.at(k, t)
        slopes.append({slope})
    g = np.array(slopes).reshape(bench.point.shape)
    {end}
''',
    "generator": '''
import numpy as np

def shifts(shape, size):
    for row in np.identity(size):
        yield row.reshape(shape)

def numerical_gradient(f, x, h={default}):
    x = np.array(x, dtype="f8")
    {start}
    def slope_along(e):
        def phi(t):
            return f(x + np.multiply(t, e))
        return {slope}
    g = np.fromiter((slope_along(e) for e in shifts(x.shape, x.size)), dtype=float, count=x.size).reshape(x.shape)
    {end}
''',
}  # fmt: skip
CENTRAL = "(phi(h) - phi(-h)) / (2 * h)"
SLOPES = {
    "forward-difference": "(phi(h) - phi(0.0)) / h",
    "backward-difference": "(phi(0.0) - phi(-h)) / h",
    "missing-two": "(phi(h) - phi(-h)) / h",
    "precedence-2h": "(phi(h) - phi(-h)) / 2 * h",
    "half-step": "(phi(h / 2) - phi(-h / 2)) / (2 * h)",
    "double-step": "(phi(2 * h) - phi(-2 * h)) / (2 * h)",
    "sign-flipped": "(phi(-h) - phi(h)) / (2 * h)",
    "absolute-value": "abs((phi(h) - phi(-h)) / (2 * h))",
    "second-derivative": "(phi(h) - 2 * phi(0.0) + phi(-h)) / (h * h)",
    "higher-order-stencil": "(phi(-2 * h) - 8 * phi(-h) + 8 * phi(h) - phi(2 * h)) / (12 * h)",
    "rounds-result": "round((phi(h) - phi(-h)) / (2 * h), 5)",
    "hard-coded-step": "(phi(1e-4) - phi(-1e-4)) / 2e-4",
}
ENDS = {
    "summed": "return g.sum()",
    "normalised": "return g / max(np.sqrt((g * g).sum()), 1e-12)",
    "returns-list": "return g.tolist()",
    "transposed": "return np.transpose(g)",
    "flat-shape": "return g.flatten() if g.ndim else float(g)",
    "returns-none": "print(g)",
    "hides-nan": "g[np.isnan(g)] = 0; return g",
}
STARTS = {"hard-coded-step": "h = 1e-6"}
DEFAULTS = {"step-too-small": "1e-13", "step-too-large": "0.05"}


def generated() -> Iterator[tuple[str, str, str]]:
    """(misconception, walk, source)."""
    for walk, template in WALKS.items():
        for index, (name, slope) in enumerate(SLOPES.items()):
            default = ("1e-4", "1e-5", "1e-6", "1e-7")[index % 4]
            yield name, walk, template.format(default=default, start="pass", slope=slope, end="return g")
        for name, end in ENDS.items():
            yield name, walk, template.format(default="1e-6", start="pass", slope=CENTRAL, end=end)
        for name, start in STARTS.items():
            yield name, walk, template.format(default="1e-5", start=start, slope=CENTRAL, end="return g")
        for name, default in DEFAULTS.items():
            yield name, walk, template.format(default=default, start="pass", slope=CENTRAL, end="return g")
