# ruff: noqa
# accept: RE WA MLE TLE OLE
# why: files, directories, mappings and pipes together stay within the submission's bounds
import mmap
import os
import numpy as np


def numerical_gradient(f, x, h=1e-7):
    print("TRIED")
    written = made = 0
    try:
        with open("/tmp/big", "wb") as big:
            for _ in range(64):
                written += big.write(bytes(1 << 20))
    except OSError:
        pass
    try:
        for i in range(100000):
            os.mkdir(f"/tmp/{i}")
            made += 1
    except OSError:
        pass
    maps = []
    try:
        for _ in range(5000):
            maps.append(mmap.mmap(-1, 4096))
    except OSError:
        pass
    if written > 32 << 20 or made > 20000:
        print("BREACH", written, made)
    return np.zeros_like(x)
