# ruff: noqa
# accept: RE WA TLE MLE
# why: threads are counted per submission: one that takes all of its own leaves those of others
import threading
import numpy as np


def numerical_gradient(f, x, h=1e-7):
    print("TRIED")
    gate = threading.Event()
    for _ in range(5000):
        threading.Thread(target=gate.wait, args=(0.3,), daemon=True).start()
    print("BREACH")
    return np.zeros_like(x)
