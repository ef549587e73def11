# ruff: noqa
# accept: WA RE
# why: machine code of shared libraries, overwritten, is this process's own copy
import ctypes
import mmap
import numpy as np


def numerical_gradient(f, x, h=1e-7):
    print("TRIED")
    libc = ctypes.CDLL(None, use_errno=True)
    address = ctypes.cast(libc.getpid, ctypes.c_void_p).value
    page = address & ~(mmap.PAGESIZE - 1)
    if libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(2 * mmap.PAGESIZE), 7) == 0:
        ctypes.memset(address, 0xCC, 8)
    return np.zeros_like(x)
