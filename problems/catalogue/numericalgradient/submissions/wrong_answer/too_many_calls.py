import numpy as np


def numerical_gradient(f, x, h=1e-5):
    p = np.array(x, dtype=float)
    g = np.zeros(p.shape)
    for i in np.ndindex(p.shape):
        for _ in range(3):
            e = np.zeros(p.shape)
            e[i] = h
            g[i] += (f(p + e) - f(p - e)) / (2 * h) / 3
    return g
