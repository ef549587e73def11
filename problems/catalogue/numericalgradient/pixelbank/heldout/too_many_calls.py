import numpy as np


def numerical_gradient(f, x, h=1e-7):
    x = np.asarray(x, dtype=float)
    out = np.zeros(x.size)
    for k, d in enumerate(h * np.eye(x.size).reshape(-1, *x.shape)):
        if f(x + d) == f(x - d):
            out[k] = 0.0
        else:
            out[k] = (f(x + d) - f(x - d)) / (2 * h)
    return out.reshape(x.shape)
