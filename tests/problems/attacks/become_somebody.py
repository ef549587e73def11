# ruff: noqa
# accept: WA
# why: no identity, capability or dumpable flag can be taken
import ctypes
import os
import numpy as np


def numerical_gradient(f, x, h=1e-7):
    print("TRIED", os.getuid())
    libc = ctypes.CDLL(None, use_errno=True)
    attempts = {
        "setuid": lambda: libc.setuid(0),
        "setresuid": lambda: libc.setresuid(0, 0, 0),
        "setgid": lambda: libc.setgid(0),
        "setgroups": lambda: libc.setgroups(0, None),
        "no_new_privs": lambda: libc.prctl(38, 0, 0, 0, 0),
        "dumpable": lambda: libc.prctl(4, 1, 0, 0, 0),
        "ambient": lambda: libc.prctl(47, 2, 21, 0, 0),
        "seccomp": lambda: libc.prctl(22, 0, 0),
        "nice": lambda: libc.setpriority(0, 0, -5),
        "affinity": lambda: libc.syscall(203, 0, 8, b"\xff" * 8),
        "iopl": lambda: libc.syscall(172, 3),
    }
    for name, attempt in attempts.items():
        if attempt() != -1:
            print("BREACH", name)
    if 0 in (os.getuid(), os.geteuid(), os.getgid(), os.getegid()) or os.getgroups() not in (
        [],
        [65534],
        [os.getgid()],
    ):
        print("BREACH", os.getuid(), os.getgroups())
    return np.zeros_like(x)
