import numpy as np


def numerical_gradient(f, x, h=1e-7):
    x = np.asarray(x, dtype=float)
    offset = np.zeros(x.shape)
    slopes = []
    for where in np.ndindex(x.shape):
        offset[where] += h
        slopes.append((f(x + offset) - f(x - offset)) / (2 * h))
    return np.reshape(slopes, x.shape)
