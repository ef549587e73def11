import numpy as np


def numerical_gradient(f, x, h=1e-5):
    p = np.array(x, dtype=float)
    g = np.zeros(p.shape)
    for k in range(len(p)):
        for i in np.ndindex(p[k].shape):
            j = (k, *i)
            old = p[j]
            p[j] = old + h
            a = f(p)
            p[j] = old - h
            b = f(p)
            p[j] = old
            g[j] = (a - b) / (2 * h)
    return g
