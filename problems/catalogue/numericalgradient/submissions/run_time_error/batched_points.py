import numpy as np


def numerical_gradient(f, x, h=1e-5):
    x = np.array(x, dtype=float)
    steps = h * np.eye(x.size).reshape((x.size,) + x.shape)
    return ((f(x + steps) - f(x - steps)) / (2 * h)).reshape(x.shape)
