import numpy as np


def numerical_gradient(f, x, h=1e-7):
    x = np.asarray(x, dtype=float)
    steps = h * np.eye(x.size).reshape(-1, *x.shape)
    left = np.array([f(x - s) for s in steps])
    right = np.array([f(x + s) for s in steps])
    return (-(right - left) / (2 * h)).reshape(x.shape)
