import numpy as np


def numerical_gradient(f, x, h=1e-7):
    if not hasattr(x, "__len__"):
        x = [x]
    x = np.asarray(x, dtype=float)
    e = h * np.eye(x.size).reshape(-1, *x.shape)
    return np.array([(f(x + d) - f(x - d)) / (2 * h) for d in e]).reshape(x.shape)
