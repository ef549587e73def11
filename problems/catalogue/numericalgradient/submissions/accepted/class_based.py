import numpy as np


class Slopes:
    def __init__(self, f, x, h):
        self.f, self.p, self.h = f, np.array(x, dtype=float), h

    def at(self, i):
        kept, total = self.p[i], 0.0
        for sign in (+1.0, -1.0):
            self.p[i] = kept + sign * self.h
            total += sign * self.f(self.p)
        self.p[i] = kept
        return total / (2 * self.h)


def numerical_gradient(f, x, h=1e-5):
    s = Slopes(f, x, h)
    return np.array([s.at(i) for i in np.ndindex(s.p.shape)]).reshape(s.p.shape)
