# ruff: noqa
# accept: RE WA TLE MLE
# why: a million bytes in every call of f do not fill the judge's memory
import numpy as np


def numerical_gradient(f, x, h=1e-7):
    print("TRIED")
    point = np.ones(100_000)
    for _ in range(3000):
        try:
            f(point)
        except Exception:
            pass
    return np.zeros_like(x)
