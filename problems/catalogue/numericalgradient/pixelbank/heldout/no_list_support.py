import numpy as np


def numerical_gradient(f, x, h=1e-7):
    if np.isscalar(x):
        return (f(x + h) - f(x - h)) / (2 * h)
    g = np.zeros(x.shape)
    for where in np.ndindex(x.shape):
        d = np.zeros(x.shape)
        d[where] = h
        g[where] = (f(x + d) - f(x - d)) / (2 * h)
    return g
