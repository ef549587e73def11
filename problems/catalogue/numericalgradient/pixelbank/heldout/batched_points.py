import numpy as np


def numerical_gradient(f, x, h=1e-7):
    x = np.asarray(x, dtype=float)
    right = np.stack([x] * x.size)
    left = np.stack([x] * x.size)
    for k in range(x.size):
        right[k].flat[k] += h
        left[k].flat[k] -= h
    heights = np.array([f(right), f(left)])
    return (heights[0] - heights[1]).reshape(x.shape) / (2 * h)
