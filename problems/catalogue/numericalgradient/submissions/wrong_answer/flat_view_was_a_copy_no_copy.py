import numpy as np


def numerical_gradient(f, x, h=1e-5):
    p = np.asarray(x, dtype=float)
    flat = p.ravel()
    g = np.zeros(flat.size)
    for k in range(flat.size):
        old = flat[k]
        flat[k] = old + h
        up = f(p)
        flat[k] = old - h
        down = f(p)
        flat[k] = old
        g[k] = (up - down) / (2 * h)
    return g.reshape(p.shape)
