import numpy as np


def numerical_gradient(f, x, h=1e-7):
    x = np.asarray(x, dtype=float)
    g = np.empty(x.shape[::-1])
    for where, _ in np.ndenumerate(x):
        e = np.zeros_like(x)
        e[where] = h
        g[where[::-1]] = (f(x + e) - f(x - e)) / (2 * h)
    return g
