import numpy as np


def numerical_gradient(f, x, h=1e-3):
    p = np.array(x, dtype=float)
    g = np.zeros(p.shape)
    for i in np.ndindex(p.shape):
        old = p[i]
        values = []
        for k in (-2, -1, 1, 2):
            p[i] = old + k * h
            values.append(f(p))
        p[i] = old
        g[i] = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h)
    return g
