import numpy as np


def numerical_gradient(f, x, h=1e-7):
    x = np.asarray(x, dtype=float)
    g = np.zeros(x.size)
    for k, e in enumerate(np.eye(x.size)):
        e = e.reshape(x.shape) * h
        g[k] = (f(x + e + e) - f(x - e - e)) / (2 * h)
    return g.reshape(x.shape)
