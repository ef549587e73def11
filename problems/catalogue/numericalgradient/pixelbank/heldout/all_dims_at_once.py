import numpy as np


def numerical_gradient(f, x, h=1e-7):
    x = np.asarray(x, dtype=float)
    shift = np.full_like(x, h)
    slope = (f(x + shift) - f(x - shift)) / (2 * h)
    return slope * np.ones_like(x)
