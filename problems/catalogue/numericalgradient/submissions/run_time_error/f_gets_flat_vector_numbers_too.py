import numpy as np


def numerical_gradient(f, x, h=1e-5):
    x = np.asarray(x, dtype=float)
    v = x.flatten()
    slopes = []
    for k in range(v.size):
        up, down = v.copy(), v.copy()
        up[k] += h
        down[k] -= h
        slopes.append((f(up) - f(down)) / (2 * h))
    return np.array(slopes).reshape(x.shape)
