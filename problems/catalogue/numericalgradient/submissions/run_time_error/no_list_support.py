import numpy as np


def numerical_gradient(f, x, h=1e-5):
    if isinstance(x, (int, float)):
        return (f(x + h) - f(x - h)) / (2 * h)
    g = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        e = np.zeros(x.shape)
        e[i] = h
        g[i] = (f(x + e) - f(x - e)) / (2 * h)
    return g
