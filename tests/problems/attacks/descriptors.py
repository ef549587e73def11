# ruff: noqa
# accept: WA
# why: nothing that the forking interpreter has open may still be open in a child
import os
import numpy as np


def numerical_gradient(f, x, h=1e-7):
    print("TRIED")
    found = []
    for fd in range(3, 1024):
        try:
            found.append((fd, os.fstat(fd).st_mode & 0o170000))
        except OSError:
            pass
    others = [entry for entry in found if entry[1] != 0o010000]  # anything but a pipe
    if others or len(found) > 2:
        print("BREACH", found)
    return np.zeros_like(x)
