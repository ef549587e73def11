import numpy as np


def numerical_gradient(f, x, h=1e-7):
    x = np.asarray(x, dtype=float)
    slopes = []
    for d in h * np.eye(x.size):
        d = d.reshape(x.shape)
        slopes.append(round((f(x + d) - f(x - d)) / (2 * h), 3))
    return np.array(slopes).reshape(x.shape)
