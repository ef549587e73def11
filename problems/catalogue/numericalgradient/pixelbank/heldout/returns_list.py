import numpy as np


def numerical_gradient(f, x, h=1e-7):
    x = np.asarray(x, dtype=float)

    def below(where):
        if len(where) == x.ndim:
            e = np.zeros(x.shape)
            e[where] = h
            return (f(x + e) - f(x - e)) / (2 * h)
        return [below(where + (k,)) for k in range(x.shape[len(where)])]

    return below(())
