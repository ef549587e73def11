# ruff: noqa
# accept: RE WA TLE
# why: a program with threads, blocked signals and no wish to end leaves nothing behind
import os
import signal
import threading
import time
import numpy as np


def numerical_gradient(f, x, h=1e-7):
    print("TRIED")
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass

    def stay():
        while True:
            time.sleep(1)

    for _ in range(20):
        threading.Thread(target=stay).start()
    for make in (os.fork, getattr(os, "posix_spawn", None)):
        try:
            make() if make is os.fork else make("/bin/sh", ["sh"], {})
            print("BREACH")
        except OSError:
            pass
    return np.zeros_like(x)
