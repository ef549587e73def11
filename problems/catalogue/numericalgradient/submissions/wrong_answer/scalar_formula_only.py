import numpy as np


def numerical_gradient(f, x, h=1e-5):
    p = np.array(x, dtype=float)
    return (f(p + h) - f(p - h)) / (2 * h)
