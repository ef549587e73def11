import numpy as np


def numerical_gradient(f, x, h=1e-6):
    x = np.asarray(x, dtype=float)
    e = np.eye(x.size).reshape((-1,) + x.shape)
    slopes = np.fromiter(((f(x + h * d) - f(x - h * d)) / (2 * h) for d in e), dtype=float)
    return np.sqrt(slopes**2).reshape(x.shape)
