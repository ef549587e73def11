import numpy as np


def numerical_gradient(f, x, h=1e-5):
    p = np.array(x, dtype=float)
    units = np.eye(p.size).reshape((p.size, *p.shape))
    slopes = [(f(p + h * e) - f(p - h * e)) / (2 * h) for e in units]
    return np.array(slopes, dtype=float).reshape(p.shape)
