import numpy as np


def numerical_gradient(f, x, h=1e-5):
    plus = np.array(x, dtype=float)
    minus = plus.copy()
    g = np.zeros(plus.shape)
    for i in np.ndindex(plus.shape):
        plus[i] += h
        minus[i] -= h
        g[i] = (f(plus) - f(minus)) / (2 * h)
    return g
