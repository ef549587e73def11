# ruff: noqa
# accept: WA RE
# why: no way to start a process or to make namespaces is forgotten
import ctypes
import os
import platform
import numpy as np

CLONE, VFORK, CLONE3 = {"x86_64": (56, 58, 435), "aarch64": (220, 220, 435)}[platform.machine()]


def numerical_gradient(f, x, h=1e-7):
    print("TRIED", flush=True)
    libc = ctypes.CDLL(None, use_errno=True)
    flags = (
        17,
        0x8000 | 17,
        0x4000 | 0x100 | 17,
        0x10000000 | 17,
        0x20000000,
        0x02000000 | 17,
        0x40000000 | 17,
        0x00020000 | 17,
        0x7E020000 | 17,
    )
    for flag in flags:
        result = libc.syscall(ctypes.c_long(CLONE), ctypes.c_ulong(flag), None, None, None, None)
        if result == 0:
            os.write(1, b"BREACH in a new process\n")
            os._exit(0)
        if result > 0:
            print("BREACH", hex(flag))
    block = (ctypes.c_uint64 * 11)(0, 0, 0, 0, 17)
    if libc.syscall(CLONE3, block, 88) != -1:
        print("BREACH clone3")
    if VFORK != CLONE and libc.syscall(VFORK) != -1:
        print("BREACH vfork")
    return np.zeros_like(x)
