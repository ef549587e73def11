import numpy as np


def numerical_gradient(f, x, h=1e-7):
    x = np.asarray(x, dtype=float)
    slopes = [(f(x, +h * e.reshape(x.shape)) - f(x, -h * e.reshape(x.shape))) / (2 * h) for e in np.eye(x.size)]
    return np.array(slopes).reshape(x.shape)
