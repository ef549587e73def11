# ruff: noqa
# accept: WA
# why: what hides /proc and bounds /tmp cannot be taken away, and nothing else can be entered
import ctypes
import os
import numpy as np


def numerical_gradient(f, x, h=1e-7):
    print("TRIED")
    libc = ctypes.CDLL(None, use_errno=True)
    attempts = {
        "umount proc": lambda: libc.umount2(b"/proc", 2),
        "umount tmp": lambda: libc.umount2(b"/tmp", 2),
        "mount proc": lambda: libc.mount(b"proc", b"/proc", b"proc", 0, None),
        "remount": lambda: libc.mount(None, b"/", None, 32, None),
        "bind": lambda: libc.mount(b"/opt", b"/tmp", None, 4096, None),
        "pivot": lambda: libc.syscall(155, b"/tmp", b"/tmp"),
        "chroot": lambda: libc.chroot(b"/tmp"),
        "unshare": lambda: libc.unshare(0x10000000),
        "setns": lambda: libc.setns(0, 0),
        "fsopen": lambda: libc.syscall(430, b"tmpfs", 0),
        "open_tree": lambda: libc.syscall(428, -100, b"/", 1),
        "by handle": lambda: libc.syscall(304, -100, b"", 0),
        "sethostname": lambda: libc.sethostname(b"x", 1),
    }
    for name, attempt in attempts.items():
        if attempt() != -1:
            print("BREACH", name)
    if os.path.exists("/proc/self") or os.path.exists("/proc/1") or os.path.exists("/sys"):
        print("BREACH proc")
    return np.zeros_like(x)
