import numpy as np


def numerical_gradient(f, x, h=1e-7):
    """Gradient of f at x by the central difference."""
    slopes = np.zeros(np.shape(x))
    # f(point) is one number: fill in one slope for each
    # entry of x
    return slopes
