# ruff: noqa
# accept: WA RE
# why: flags of descriptors that others also have are not a way to disturb them
import fcntl
import os
import numpy as np


def numerical_gradient(f, x, h=1e-7):
    print("TRIED")
    for fd in (0, 1, 2):
        for command, value in ((fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC), (8, 1), (10, 9), (1031, 1 << 20)):
            try:
                fcntl.fcntl(fd, command, value)
                if command != fcntl.F_SETFL:
                    print("BREACH", fd, command)
            except OSError:
                pass
        try:
            os.lseek(fd, 0, 2)
        except OSError:
            pass
    return np.zeros_like(x)
