# ruff: noqa
# accept: WA
# why: no system call reads another process or hands over its descriptors
import ctypes
import platform
import numpy as np

NUMBERS = {
    "x86_64": {
        "ptrace": 101,
        "process_vm_readv": 310,
        "process_vm_writev": 311,
        "pidfd_open": 434,
        "pidfd_getfd": 438,
        "kcmp": 312,
        "process_madvise": 440,
        "perf_event_open": 298,
        "userfaultfd": 323,
        "move_pages": 279,
        "get_mempolicy": 239,
        "migrate_pages": 256,
        "keyctl": 250,
        "add_key": 248,
        "bpf": 321,
    },
    "aarch64": {
        "ptrace": 117,
        "process_vm_readv": 270,
        "process_vm_writev": 271,
        "pidfd_open": 434,
        "pidfd_getfd": 438,
        "kcmp": 272,
        "process_madvise": 440,
        "perf_event_open": 241,
        "userfaultfd": 282,
        "move_pages": 239,
        "get_mempolicy": 236,
        "migrate_pages": 238,
        "keyctl": 219,
        "add_key": 217,
        "bpf": 280,
    },
}


def numerical_gradient(f, x, h=1e-7):
    print("TRIED")
    libc = ctypes.CDLL(None, use_errno=True)
    for name, number in NUMBERS[platform.machine()].items():
        for pid in (0, 1, 2):
            ctypes.set_errno(0)
            if libc.syscall(number, pid, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() != 1:
                print("BREACH", name, pid, ctypes.get_errno())
    return np.zeros_like(x)
