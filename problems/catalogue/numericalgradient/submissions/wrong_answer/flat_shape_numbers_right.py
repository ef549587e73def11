import numpy as np


def numerical_gradient(f, x, h=1e-5):
    p = np.array(x, dtype=float, order="C")
    flat = p.reshape(-1)
    g = np.zeros(flat.size)
    for k in range(flat.size):
        old = flat[k]
        flat[k] = old + h
        up = f(p)
        flat[k] = old - h
        down = f(p)
        flat[k] = old
        g[k] = (up - down) / (2 * h)
    return g if p.ndim else float(g[0])
