# ruff: noqa
# accept: RE WA
# why: the system call tables of other ABIs of the same processor end the process
import ctypes
import mmap
import platform
import numpy as np


def numerical_gradient(f, x, h=1e-7):
    print("TRIED", flush=True)
    libc = ctypes.CDLL(None, use_errno=True)
    if platform.machine() == "x86_64":
        page = mmap.mmap(-1, 4096, prot=7)
        page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # getpid of the 32-bit table
        call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
        if f is not None and call() > 0:
            print("BREACH 32 bit")
        if libc.syscall(0x40000000 + 39) > 0:
            print("BREACH x32")
    return np.zeros_like(x)
