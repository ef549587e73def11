import numpy as np


def numerical_gradient(f, x, h=1e-5):
    p = np.array(x, dtype=float)
    slopes = []
    for i in np.ndindex(p.shape):
        up, down = p.copy(), p.copy()
        up[i] += h
        down[i] -= h
        slopes.append((f(up) - f(down)) / (2 * h))
    return np.array(slopes)
