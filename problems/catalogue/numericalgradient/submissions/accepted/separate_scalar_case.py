import numpy as np


def numerical_gradient(f, x, h=1e-5):
    if np.ndim(x) == 0:
        x = float(x)
        return (f(x + h) - f(x - h)) / (2 * h)
    x = np.array(x, dtype=float)
    g = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        e = np.zeros(x.shape)
        e[i] = h
        g[i] = (f(x + e) - f(x - e)) / (h + h)
    return g
