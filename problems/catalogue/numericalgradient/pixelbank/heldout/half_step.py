import numpy as np


def numerical_gradient(f, x, h=1e-6):
    half = 0.5 * h
    x = np.asarray(x, dtype=float)

    def moved(k, by):
        y = x.flatten()
        y[k] += by
        return y.reshape(x.shape)

    return np.array([(f(moved(k, half)) - f(moved(k, -half))) / (h + h) for k in range(x.size)]).reshape(x.shape)
