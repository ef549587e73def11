import numpy as np


def numerical_gradient(f, x, h=1e-5):
    p = np.array(x, dtype=float)
    g = np.zeros(p.shape)
    for i in np.ndindex(p.shape):
        old = p[i]
        p[i] = old + h / 2
        a = f(p)
        p[i] = old - h / 2
        b = f(p)
        p[i] = old
        g[i] = (a - b) / (2 * h)
    return g
