import numpy as np


def numerical_gradient(f, x, h=1e-5):
    p = np.atleast_1d(np.array(x, dtype=float))
    g = np.zeros(p.shape)
    for i in np.ndindex(p.shape):
        old = p[i]
        p[i] = old + h
        up = f(p)
        p[i] = old - h
        down = f(p)
        p[i] = old
        g[i] = (up - down) / (2 * h)
    return g
