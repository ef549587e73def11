import numpy as np


def numerical_gradient(f, x, h=1e-5):
    p = np.array(x, dtype=float)
    total = 0.0
    for i in np.ndindex(p.shape):
        old = p[i]
        p[i] = old + h
        up = f(p)
        p[i] = old - h
        down = f(p)
        p[i] = old
        total += (up - down) / (2 * h)
    return total
