import numpy as np


def numerical_gradient(f, x, h=1e-7):
    x = np.asarray(x, dtype=float)
    steps = np.abs(x.reshape(-1)) * h
    rise = []
    for k, s in enumerate(steps):
        e = np.zeros(x.size)
        e[k] = s
        e = e.reshape(x.shape)
        rise.append(f(x + e) - f(x - e))
    return (np.array(rise) / (2 * steps)).reshape(x.shape)
