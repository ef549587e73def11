import numpy as np


def numerical_gradient(f, x, h=1e-7):
    if np.isscalar(x):
        return (f(float(x) + h) - f(float(x) - h)) / (2 * h)
    x = np.array(x, dtype=float)
    result = np.zeros_like(x)
    for row, _ in enumerate(x):
        step = np.zeros_like(x)
        step[row] += h
        result[row] = (f(x + step) - f(x - step)) / (2 * h)
    return result
