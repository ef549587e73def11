import numpy as np


def numerical_gradient(f, x, h=1e-5):
    p = np.array(x, dtype=float)
    if p.ndim == 0:
        return (f(p + h) - f(p - h)) / (2 * h)
    g = np.zeros(p.shape)
    for i in range(len(p)):
        old = p[i].copy()
        p[i] = old + h
        up = f(p)
        p[i] = old - h
        down = f(p)
        p[i] = old
        g[i] = (up - down) / (2 * h)
    return g
