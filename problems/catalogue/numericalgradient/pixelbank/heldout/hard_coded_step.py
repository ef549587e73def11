import numpy as np

EPSILON = 1e-6


def numerical_gradient(f, x, h=EPSILON):
    h = EPSILON
    x = np.asarray(x, dtype=float)
    e = h * np.eye(x.size).reshape(-1, *x.shape)
    return np.array([(f(x + d) - f(x - d)) / (2 * h) for d in e]).reshape(x.shape)
