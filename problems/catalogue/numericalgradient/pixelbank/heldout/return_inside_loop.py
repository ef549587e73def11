import numpy as np


def numerical_gradient(f, x, h=1e-7):
    x = np.asarray(x, dtype=float)
    result = np.zeros_like(x)
    it = np.nditer(x, flags=["multi_index"])
    while not it.finished:
        d = np.zeros_like(x)
        d[it.multi_index] = h
        result[it.multi_index] = (f(x + d) - f(x - d)) / (2 * h)
        it.iternext()
        return result
    return result
