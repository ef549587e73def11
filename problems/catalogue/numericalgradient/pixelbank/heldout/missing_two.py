import numpy as np


def numerical_gradient(f, x, h=1e-7):
    x = np.asarray(x, dtype=float)
    basis = np.eye(x.size).reshape((x.size,) + x.shape)
    rise = [f(x + h * e) - f(x - h * e) for e in basis]
    return np.reshape(np.array(rise) / h, x.shape)
