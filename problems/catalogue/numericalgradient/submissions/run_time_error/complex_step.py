import numpy as np


def numerical_gradient(f, x, h=1e-20):
    p = np.array(x, dtype=complex)
    g = np.zeros(p.shape)
    for i in np.ndindex(p.shape):
        p[i] += 1j * h
        g[i] = np.imag(f(p)) / h
        p[i] -= 1j * h
    return g
