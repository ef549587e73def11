import numpy as np


def numerical_gradient(f, x, h=1e-6):
    x = np.asarray(x)
    if not np.issubdtype(x.dtype, np.floating):
        x = x.astype(np.float64)
    out = []
    for k in range(x.size):
        up, down = x.copy(), x.copy()
        up.flat[k] += h
        down.flat[k] -= h
        out.append((f(up) - f(down)) / (2 * h))
    return np.array(out, dtype=np.float64).reshape(x.shape)
