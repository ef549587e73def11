import numpy as np


def numerical_gradient(f, x, h=1e-5):
    p = np.array(x, dtype=float)
    rows = []
    for k in range(p.shape[0]):
        row = np.zeros(p[k].shape)
        for i in np.ndindex(row.shape):
            up, down = p.copy(), p.copy()
            up[(k, *i)] += h
            down[(k, *i)] -= h
            row[i] = (f(up) - f(down)) / (2 * h)
        rows.append(row)
    return np.array(rows).reshape(p.shape)
