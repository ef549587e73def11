import numpy as np


def numerical_gradient(f, x, h=1e-7):
    x = np.asarray(x, dtype=float)
    result = np.zeros(x.shape)
    everywhere = list(np.ndindex(x.shape))
    k = 0
    while k < len(everywhere) - 1:
        d = np.zeros(x.shape)
        d[everywhere[k]] = h
        result[everywhere[k]] = (f(x + d) - f(x - d)) / (2 * h)
        k += 1
    return result
