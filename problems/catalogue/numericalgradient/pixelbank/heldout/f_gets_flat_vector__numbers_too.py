import numpy as np


def numerical_gradient(f, x, h=1e-7):
    shape = np.shape(x)
    x = np.asarray(x, dtype=float).reshape(-1)
    rise = [f(x + d) - f(x - d) for d in h * np.eye(len(x))]
    return np.reshape(np.array(rise) / (2 * h), shape)
