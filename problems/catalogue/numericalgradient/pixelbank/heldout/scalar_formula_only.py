import numpy as np


def numerical_gradient(f, x, h=1e-7):
    right = f(np.add(x, h, dtype=float))
    left = f(np.subtract(x, h, dtype=float))
    return np.float64(right - left) / (h + h)
