import numpy as np


def numerical_gradient(f, x, h=1e-5):
    p = np.asarray(x, dtype=float)
    g = np.zeros(p.shape)
    for i in np.ndindex(p.shape):
        p[i] += h
        a = f(p)
        p[i] -= 2 * h
        g[i] = (a - f(p)) / (2 * h)
        p[i] += h * 1.5
    return g
