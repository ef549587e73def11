import numpy as np


def numerical_gradient(f, x, h=1e-7):
    x = np.asarray(x, dtype=float)
    places = list(np.ndindex(x.shape))[1:]
    result = np.zeros(x.shape)
    for where in places:
        d = np.zeros(x.shape)
        d[where] = h
        result[where] = (f(x + d) - f(x - d)) / (2 * h)
    return result
