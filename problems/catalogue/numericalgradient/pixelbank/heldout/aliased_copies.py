import numpy as np


def numerical_gradient(f, x, h=1e-7):
    base = np.array(x, dtype=float, order="C")
    slopes = []
    for k in range(base.size):
        right, left = base[...], base[...]
        right.reshape(-1)[k] += h
        left.reshape(-1)[k] -= h
        slopes.append(f(right) - f(left))
    return np.array(slopes).reshape(base.shape) / (2 * h)
