import numpy as np


def neighbours(p, h):
    for i in np.ndindex(p.shape):
        up, down = p.copy(), p.copy()
        up[i], down[i] = p[i] + h, p[i] - h
        yield up, down


def numerical_gradient(f, x, h=1e-5):
    p = np.array(x, dtype=np.float64)
    g = np.fromiter(((f(u) - f(d)) / (2 * h) for u, d in neighbours(p, h)), dtype=float, count=p.size)
    return g.reshape(p.shape)
