# ruff: noqa
# accept: WA
# why: files, locks and timestamps of one submission are not seen by the next
import fcntl
import os
import numpy as np


def numerical_gradient(f, x, h=1e-7):
    print("TRIED", sorted(os.listdir("/tmp")))
    if any(name.startswith("mark") for name in os.listdir("/tmp")) and not hasattr(np, "my_mark"):
        print("BREACH note of another submission")
    np.my_mark = True
    with open("/tmp/mark", "w") as note:
        note.write("seen")
    for place in ("/", "/opt", "/opt/site", "/opt/judge", "/proc", "/usr", "/usr/lib", "/opt/site/numpy"):
        try:
            with open(os.path.join(place, "mark"), "w"):
                print("BREACH wrote", place)
        except OSError:
            pass
    with open(np.__file__) as shared:
        for lock in (
            lambda: fcntl.flock(shared, fcntl.LOCK_EX),
            lambda: fcntl.lockf(shared, fcntl.LOCK_SH),
            lambda: fcntl.fcntl(shared, 1024, 0),
            lambda: fcntl.fcntl(shared, 1026, 1),
        ):
            try:
                lock()
                print("BREACH lock on a file that others have open")
            except OSError:
                pass
    return np.zeros_like(x)
