import numpy as np


def numerical_gradient(f, x, h=1e-5):
    x = np.asarray(x, dtype=np.float64)
    out = np.empty(x.shape)
    for i in np.ndindex(*x.shape):
        right, left = x.copy(), x.copy()
        right[i] += h
        left[i] -= h
        out[i] = (f(right) - f(left)) / (2 * h)
    return out
