import numpy as np


def numerical_gradient(f, x, h=1e-7):
    moving = np.array(x, dtype=float, order="C")
    flat = moving.reshape(-1)
    original = flat.copy()
    slopes = []
    for k, value in enumerate(original):
        flat[k] = value + h
        high = f(moving)
        flat[k] = value - h
        low = f(moving)
        slopes.append((high - low) / (2 * h))
    return np.array(slopes).reshape(moving.shape)
