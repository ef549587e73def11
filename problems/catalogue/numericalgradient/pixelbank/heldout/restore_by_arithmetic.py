import numpy as np


def nudge(x, k, by):
    x.flat[k] = x.flat[k] + by


def numerical_gradient(f, x, h=1e-7):
    x = np.asarray(x, dtype=float)
    result = np.empty_like(x)
    for k in range(x.size):
        nudge(x, k, -h)
        low = f(x)
        nudge(x, k, h)
        nudge(x, k, h)
        high = f(x)
        nudge(x, k, -h)
        result.flat[k] = (high - low) / (2 * h)
    return result
