import numpy as np


def numerical_gradient(f, x, h=1e-5):
    p = np.array(x, dtype=float, order="K")
    flat = p.reshape(-1)
    g = np.zeros(flat.size)
    for k in range(flat.size):
        old = flat[k]
        flat[k] = old + h
        a = f(p)
        flat[k] = old - h
        b = f(p)
        flat[k] = old
        g[k] = (a - b) / (2 * h)
    return g.reshape(p.shape)
