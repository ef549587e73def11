import numpy as np


def numerical_gradient(f, x, h=1e-5):
    x = np.asarray(x, dtype=float)
    g = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        x[i] += h
        up = f(x)
        x[i] -= 2 * h
        down = f(x)
        g[i] = (up - down) / (2 * h)
    return g
