import numpy as np


def numerical_gradient(f, x, h=1e-7):
    values = np.array(f(np.array(x, dtype=np.float64)))
    return np.array(np.gradient(values))
