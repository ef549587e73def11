import numpy as np


def slope_along(f, p, index, h):
    shift = np.zeros(p.shape)
    shift[index] = h
    return (f(p + shift) - f(p - shift)) / (2 * h)


def numerical_gradient(f, x, h=1e-6):
    p = np.asarray(x, dtype=float)
    g = np.zeros(p.shape)
    for index in np.ndindex(p.shape):
        g[index] = slope_along(f, p, index, h)
    return g if p.shape else float(g)
