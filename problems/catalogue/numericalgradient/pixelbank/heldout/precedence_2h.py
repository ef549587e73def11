import numpy as np


def numerical_gradient(f, x, h=1e-6):
    p = np.array(x, dtype=float, order="C")
    v = p.ravel()
    out = []
    for k in range(v.size):
        v[k], old = v[k] + h, v[k]
        diff = f(p)
        v[k] = old - h
        diff -= f(p)
        v[k] = old
        half = diff / 2
        out.append(half * h)
    return np.array(out).reshape(p.shape)
