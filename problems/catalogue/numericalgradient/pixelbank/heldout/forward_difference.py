import numpy as np


def numerical_gradient(f, x, h=1e-5):
    x = np.asarray(x, dtype=np.float64)
    directions = [e.reshape(x.shape) for e in h * np.eye(x.size)]
    slopes = [(f(x + e) - f(x)) / h for e in directions]
    return np.array(slopes).reshape(x.shape)
