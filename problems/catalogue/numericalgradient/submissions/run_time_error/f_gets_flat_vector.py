import numpy as np


def numerical_gradient(f, x, h=1e-5):
    x = np.array(x, dtype=float)
    if x.ndim == 0:
        return (f(x + h) - f(x - h)) / (2 * h)
    v = x.flatten()
    g = np.zeros(v.size)
    for k in range(v.size):
        old = v[k]
        v[k] = old + h
        up = f(v)
        v[k] = old - h
        down = f(v)
        v[k] = old
        g[k] = (up - down) / (2 * h)
    return g.reshape(x.shape)
