import numpy as np


def numerical_gradient(f, x, h=1e-7):
    x = np.asarray(x, dtype=float)
    e = h * np.eye(x.size).reshape(-1, *x.shape)
    rise = np.array([f(x + d) - f(x - d) for d in e])
    return (rise / (np.sqrt(np.sum(rise**2)) + 1e-300)).reshape(x.shape)
