import numpy as np


def numerical_gradient(f, x, h=1e-7):
    x = np.asanyarray(x, dtype=np.float64)
    grads = []
    with np.nditer(x, flags=["multi_index"], op_flags=["readwrite"]) as it:
        for entry in it:
            value = float(entry)
            entry[...] = value + h
            a = f(x)
            entry[...] = value - h
            b = f(x)
            grads.append((it.multi_index, (a - b) / (2 * h)))
    out = np.zeros(x.shape)
    for where, slope in grads:
        out[where] = slope
    return out
