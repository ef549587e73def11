import numpy as np


def numerical_gradient(f, x, h=1e-5):
    x = np.array(x, dtype=float)
    g = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        plus = x
        minus = x
        plus[i] += h
        minus[i] -= h
        g[i] = (f(plus) - f(minus)) / (2 * h)
    return g
