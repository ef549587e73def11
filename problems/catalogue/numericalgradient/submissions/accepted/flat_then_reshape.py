import numpy as np


def numerical_gradient(f, x, h=1e-6):
    base = np.array(x, dtype=float, order="C")
    flat = base.reshape(-1)
    g = np.zeros(flat.size)
    for k in range(flat.size):
        old = flat[k]
        flat[k] = old + h
        up = f(base)
        flat[k] = old - h
        down = f(base)
        flat[k] = old
        g[k] = 0.5 * (up - down) / h
    return g.reshape(base.shape)
