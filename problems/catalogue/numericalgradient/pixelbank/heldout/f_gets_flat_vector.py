import numpy as np


def numerical_gradient(f, x, h=1e-7):
    if np.ndim(x) == 0:
        return (f(float(x) + h) - f(float(x) - h)) / (2 * h)
    shape = np.shape(x)
    x = np.asarray(x, dtype=float).ravel()
    slopes = [(f(x + d) - f(x - d)) / (2 * h) for d in h * np.eye(len(x))]
    return np.reshape(slopes, shape)
