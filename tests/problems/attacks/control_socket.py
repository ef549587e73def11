# ruff: noqa
# accept: RE WA
# why: messages of the forking interpreter, forged on every descriptor, reach nobody who believes them
import os
import struct
import numpy as np


def numerical_gradient(f, x, h=1e-7):
    print("TRIED")
    for kind in (1, 2, 3, 4):
        for job in range(1, 40):
            for fd in (*range(2), *range(3, 100)):
                try:
                    os.write(fd, struct.pack("<BIid", kind, job, 0, 1e9))
                except OSError:
                    pass
    return np.zeros_like(x)
