# ruff: noqa
# accept: RE WA
# why: exceptions that end loops, raised from every hook there is, are the learner's own
import atexit
import gc
import os
import sys
import threading
import numpy as np


def numerical_gradient(f, x, h=1e-7):
    print("TRIED", flush=True)
    gc.callbacks.append(lambda *_: os._exit(0))
    sys.excepthook = threading.excepthook = lambda *_: os._exit(0)
    sys.setswitchinterval(1e-6)
    atexit.register(os._exit, 0)
    sys.settrace(lambda *_: os._exit(0))
    raise GeneratorExit
