import math

import numpy as np


def numerical_gradient(f, x, h=1e-7):
    x = np.asarray(x, dtype=float)

    def slope(d):
        value = (f(x + d) - f(x - d)) / (2 * h)
        return 0.0 if math.isnan(value) else value

    return np.array([slope(h * d.reshape(x.shape)) for d in np.eye(x.size)]).reshape(x.shape)
