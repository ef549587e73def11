import numpy as np


def numerical_gradient(f, x, h=1e-7):
    kind = np.asarray(x).dtype
    x = np.asarray(x, dtype=float)
    basis = np.eye(x.size).reshape(-1, *x.shape) * h
    slopes = np.array([(f(x + e) - f(x - e)) / (2 * h) for e in basis])
    return slopes.reshape(x.shape).astype(kind)
