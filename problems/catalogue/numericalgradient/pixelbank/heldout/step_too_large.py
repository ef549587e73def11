import numpy as np


def numerical_gradient(f, x, h=0.1):
    x = np.asarray(x, dtype=float)
    out = np.empty(x.size)
    for k in range(x.size):
        y = x.flatten()
        y[k] += h
        hi = f(y.reshape(x.shape))
        y[k] -= 2 * h
        out[k] = (hi - f(y.reshape(x.shape))) / (2 * h)
    return out.reshape(x.shape)
