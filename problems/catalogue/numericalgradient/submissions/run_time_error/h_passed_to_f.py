import numpy as np


def numerical_gradient(f, x, h=1e-5):
    p = np.array(x, dtype=float)
    g = np.zeros(p.shape)
    for i in np.ndindex(p.shape):
        g[i] = (f(p, h) - f(p, -h)) / (2 * h)
    return g
