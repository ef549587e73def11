import numpy as np


def numerical_gradient(f, x, h=1e-6):
    p = np.array(x, dtype=float)

    def walk(prefix):
        if len(prefix) == p.ndim:
            old = p[prefix]
            p[prefix] = old + h
            a = f(p.copy())
            p[prefix] = old - h
            b = f(p.copy())
            p[prefix] = old
            return (a - b) / (2 * h)
        return [walk((*prefix, k)) for k in range(p.shape[len(prefix)])]

    return np.array(walk(()), dtype=float)
