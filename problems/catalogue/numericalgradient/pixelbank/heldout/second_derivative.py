import numpy as np


def numerical_gradient(f, x, h=1e-3):
    x = np.asarray(x, dtype=float)
    now = f(x)
    out = []
    for d in h * np.eye(x.size):
        d = d.reshape(x.shape)
        rise_right = (f(x + d) - now) / h
        rise_left = (now - f(x - d)) / h
        out.append((rise_right - rise_left) / h)
    return np.array(out).reshape(x.shape)
