import numpy as np


def numerical_gradient(f, x, h=1e-7):
    point = np.array(x, dtype=float)
    slopes = np.zeros(point.shape)
    for index in np.ndindex(point.shape):
        kept = point[index]
        point[index] = kept + h
        above = f(point)
        point[index] = kept - h
        below = f(point)
        point[index] = kept
        slopes[index] = (above - below) / (2 * h)
    return slopes
