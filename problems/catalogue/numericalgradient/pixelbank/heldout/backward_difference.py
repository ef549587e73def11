import numpy as np


def numerical_gradient(f, x, h=1e-6):
    point = np.array(x, dtype="float64", order="C")
    value = f(point)
    flat = point.reshape(-1)

    def slope(k):
        keep = flat[k]
        flat[k] = keep - h
        before = f(point)
        flat[k] = keep
        return (value - before) / h

    return np.reshape([slope(k) for k in range(flat.size)], point.shape)
