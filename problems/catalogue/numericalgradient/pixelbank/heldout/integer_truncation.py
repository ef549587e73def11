import numpy as np


def numerical_gradient(f, x, h=1e-7):
    x = np.asarray(x)
    slopes = []
    for k in range(x.size):
        plus, minus = np.copy(x), np.copy(x)
        plus.flat[k] = plus.flat[k] + h
        minus.flat[k] = minus.flat[k] - h
        slopes.append((f(plus) - f(minus)) / (2.0 * h))
    return np.array(slopes, dtype=float).reshape(x.shape)
