import numpy as np


def numerical_gradient(f, x, h=1e-7):
    x = np.asarray(x, dtype=float)
    if x.ndim == 0:
        return (f(x + h) - f(x - h)) / (2 * h)
    slopes = []
    for where in np.ndindex(x.shape):
        e = np.zeros(x.shape)
        e[where] = h
        slopes.append((f(x + e) - f(x - e)) / (2 * h))
    return np.array(slopes)
