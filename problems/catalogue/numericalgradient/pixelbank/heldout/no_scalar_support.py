import numpy as np


def numerical_gradient(f, x, h=1e-7):
    x = np.asarray(x, dtype=float)
    per_row = x.size // x.shape[0]
    slopes = np.zeros((x.shape[0], per_row))
    for row in range(x.shape[0]):
        for column in range(per_row):
            d = np.zeros((x.shape[0], per_row))
            d[row, column] = h
            d = d.reshape(x.shape)
            slopes[row, column] = (f(x + d) - f(x - d)) / (2 * h)
    return slopes.reshape(x.shape)
