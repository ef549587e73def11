import numpy as np


def numerical_gradient(f, x, h=1e-5):
    p = np.array(x, dtype=np.float64)
    g = np.zeros_like(p)
    it = np.nditer(p, flags=["multi_index"])
    while not it.finished:
        i = it.multi_index
        old = p[i]
        p[i] = old + h
        hi = f(p)
        p[i] = old - h
        lo = f(p)
        p[i] = old
        g[i] = (hi - lo) / (2.0 * h)
        it.iternext()
    return g
