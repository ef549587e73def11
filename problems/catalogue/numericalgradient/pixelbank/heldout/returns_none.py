import numpy as np


def numerical_gradient(f, x, h=1e-7):
    x = np.asarray(x, dtype=float)
    e = h * np.eye(x.size).reshape(-1, *x.shape)
    slopes = np.array([(f(x + d) - f(x - d)) / (2 * h) for d in e])
    print("gradient:", slopes.reshape(x.shape))
