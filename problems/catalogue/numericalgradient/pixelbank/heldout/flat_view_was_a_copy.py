import numpy as np


def numerical_gradient(f, x, h=1e-7):
    point = np.asarray(x, dtype="d")
    entries = np.reshape(point, point.size)
    slopes = []
    for k, value in enumerate(entries.tolist()):
        heights = []
        for moved in (value + h, value - h, value):
            entries[k] = moved
            if moved != value:
                heights.append(f(point))
        slopes.append((heights[0] - heights[1]) / (2 * h))
    return np.array(slopes).reshape(point.shape)
