import numpy as np


def numerical_gradient(f, x, h=1e-5):
    x = np.asarray(x, dtype=float)
    return np.asarray(np.gradient(f(x), h))
