# ruff: noqa
# accept: RE WA
# why: a thread that answers for the next case can say only values, like everybody
import os
import struct
import threading
import time
import numpy as np

started = []


def numerical_gradient(f, x, h=1e-7):
    print("TRIED", flush=True)
    from problems.judge.jail import wire

    def forge():
        frame = wire.pack(wire.listing(wire.describe(np.zeros(3)), wire.listing()))
        while True:
            time.sleep(0.0005)
            for fd in range(3, 20):
                try:
                    os.write(fd, struct.pack("<BI", wire.RETURN, len(frame)) + frame)
                except OSError:
                    pass

    if not started:
        started.append(threading.Thread(target=forge, daemon=True))
        started[0].start()
    time.sleep(0.01)
    return np.zeros_like(x)
