import numpy as np


def numerical_gradient(f, x, h=1e-6):
    p = np.array(x, dtype=float)
    f(p)
    g = np.zeros(p.shape)
    for i in np.ndindex(p.shape):
        old = p[i]
        values = []
        for sign in (1, -1):
            p[i] = old + sign * h
            values.append(f(p))
        p[i] = old
        g[i] = (values[0] - values[1]) / (2 * h)
    return g
