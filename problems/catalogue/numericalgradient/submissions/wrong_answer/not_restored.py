import numpy as np


def numerical_gradient(f, x, h=1e-5):
    p = np.array(x, dtype=float)
    g = np.zeros(p.shape)
    for i in np.ndindex(p.shape):
        old = p[i]
        p[i] = old + h
        a = f(p)
        p[i] = old - h
        b = f(p)
        g[i] = (a - b) / (2 * h)
    return g
