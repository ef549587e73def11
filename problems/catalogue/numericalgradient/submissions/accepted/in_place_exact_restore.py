import numpy as np


def numerical_gradient(f, x, h=1e-5):
    x = np.asarray(x, dtype=float)
    g = np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        old = x[i]
        try:
            x[i] = old + h
            a = f(x)
            x[i] = old - h
            b = f(x)
        finally:
            x[i] = old
        g[i] = (a - b) / (2 * h)
    return g
