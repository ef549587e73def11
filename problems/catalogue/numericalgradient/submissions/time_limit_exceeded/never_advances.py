import numpy as np


def numerical_gradient(f, x, h=1e-5):
    p = np.array(x, dtype=float)
    g = np.zeros(p.shape)
    it = np.nditer(p, flags=["multi_index"])
    while not it.finished:
        g[it.multi_index] = 0.0
    return g
