# ruff: noqa
# accept: WA RE
# why: no process of another submission, nor the interpreter that forked this one, can be signalled
import os
import signal
import numpy as np


def numerical_gradient(f, x, h=1e-7):
    print("TRIED", os.getpid(), os.getppid())
    for number in (signal.SIGKILL, signal.SIGSTOP, 0):
        for pid in (*range(2, 3000), -2, -3, -os.getpid() - 1):
            try:
                os.kill(pid, number)
                print("BREACH", pid, number)
            except OSError:
                pass
        try:
            os.kill(-1, number)
        except OSError:
            pass
    if os.getpid() != 1 or os.getppid() != 0:
        print("BREACH pid")
    return np.zeros_like(x)
