"""What a sandboxed process does to itself before it sees a learner's line: give up rights, set limits, filter calls.

Everything is checked by trying it; ``facts()`` reports what was found, and the judge, outside, decides if it is enough.
Needs only the standard library (ctypes), so it works without libseccomp, setpriv or a compiler.
"""

# ruff: noqa: S108 - these folders are those inside the jail

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import select
import socket
import struct
from collections.abc import Collection, Mapping
from functools import cache
from typing import Final

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_GET_NO_NEW_PRIVS, PR_SET_NO_NEW_PRIVS = 1, 4, 39, 38
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
CLONE_THREAD, CLONE_NEW_ANY = 0x00010000, 0x7E020080

# name: (x86_64, aarch64); None where the machine has no such call. From the kernel's own tables.
ALLOWED: Final[Mapping[str, tuple[int | None, int | None]]] = {
    # bytes in and out of what is already open
    "read": (0, 63), "write": (1, 64), "readv": (19, 65), "writev": (20, 66), "pread64": (17, 67), "pwrite64": (18, 68),
    "preadv": (295, 69), "pwritev": (296, 70), "lseek": (8, 62), "close": (3, 57), "close_range": (436, 436),
    "dup": (32, 23), "dup2": (33, None), "dup3": (292, 24), "pipe": (22, None), "pipe2": (293, 59),
    "poll": (7, None), "ppoll": (271, 73), "select": (23, None), "pselect6": (270, 72),
    # files: the root is read-only, only the private /tmp can be written
    "open": (2, None), "openat": (257, 56), "access": (21, None), "faccessat": (269, 48), "faccessat2": (439, 439),
    "stat": (4, None), "lstat": (6, None), "fstat": (5, 80), "newfstatat": (262, 79), "statx": (332, 291),
    "statfs": (137, 43), "fstatfs": (138, 44), "getdents64": (217, 61), "getcwd": (79, 17), "chdir": (80, 49),
    "fchdir": (81, 50), "readlink": (89, None), "readlinkat": (267, 78), "mkdir": (83, None), "mkdirat": (258, 34),
    "rmdir": (84, None), "unlink": (87, None), "unlinkat": (263, 35), "rename": (82, None), "renameat": (264, 38),
    "renameat2": (316, 276), "ftruncate": (77, 46), "truncate": (76, 45), "fsync": (74, 82), "fdatasync": (75, 83),
    "umask": (95, 166),
    # memory
    "mmap": (9, 222), "mprotect": (10, 226), "munmap": (11, 215), "mremap": (25, 216), "brk": (12, 214),
    "madvise": (28, 233),
    # signals and time; other processes cannot be seen from the pid namespace
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "rt_sigpending": (127, 136),
    "rt_sigtimedwait": (128, 137), "rt_sigsuspend": (130, 133), "sigaltstack": (131, 132), "kill": (62, 129),
    "tgkill": (234, 131), "tkill": (200, 130), "pause": (34, None), "alarm": (37, None), "setitimer": (38, 103),
    "getitimer": (36, 102), "nanosleep": (35, 101), "clock_nanosleep": (230, 115), "clock_gettime": (228, 113),
    "clock_getres": (229, 114), "gettimeofday": (96, 169), "time": (201, None), "times": (100, 153),
    "getrusage": (98, 165),
    # who am I
    "getpid": (39, 172), "getppid": (110, 173), "gettid": (186, 178), "getuid": (102, 174), "geteuid": (107, 175),
    "getgid": (104, 176), "getegid": (108, 177), "getgroups": (115, 158), "getresuid": (118, 148),
    "getresgid": (120, 150),
    "getpgid": (121, 155), "getpgrp": (111, None), "getsid": (124, 156), "uname": (63, 160),
    "getrlimit": (97, 163), "getcpu": (309, 168), "getpriority": (140, 141), "getrandom": (318, 278),
    # threads (clone is checked further below) and the end
    "futex": (202, 98), "set_robust_list": (273, 99), "get_robust_list": (274, 100), "rseq": (334, 293),
    "set_tid_address": (218, 96), "sched_yield": (24, 124), "sched_getaffinity": (204, 123),
    "sched_getparam": (143, 121),
    "sched_getscheduler": (145, 120), "arch_prctl": (158, None), "restart_syscall": (219, 128),
    "exit": (60, 93), "exit_group": (231, 94),
}  # fmt: skip
CLONE, CLONE3, PRLIMIT64, FCNTL = (56, 220), (435, 435), (302, 261), (72, 25)
# duplicate, close-on-exec and status flags; no locks, leases, notes or pipe sizes on files that others have open too
FCNTL_COMMANDS: Final = (0, 1, 2, 3, 4, 1030)
# tried after the filter is in place: each of these must be refused
REFUSED: Final[Mapping[str, tuple[int, int, int]]] = {
    # name: (x86_64, aarch64, errno that the filter gives)
    "socket": (41, 198, errno.EPERM), "socketpair": (53, 199, errno.EPERM), "connect": (42, 203, errno.EPERM),
    "execve": (59, 221, errno.EPERM), "execveat": (322, 281, errno.EPERM), "memfd_create": (319, 279, errno.EPERM),
    "ptrace": (101, 117, errno.EPERM), "unshare": (272, 97, errno.EPERM), "setns": (308, 268, errno.EPERM),
    "mount": (165, 40, errno.EPERM), "bpf": (321, 280, errno.EPERM), "keyctl": (250, 219, errno.EPERM),
    "io_uring_setup": (425, 425, errno.EPERM), "userfaultfd": (323, 282, errno.EPERM),
    "perf_event_open": (298, 241, errno.EPERM), "process_vm_readv": (310, 270, errno.EPERM),
    "pidfd_open": (434, 434, errno.EPERM), "setuid": (105, 146, errno.EPERM), "mknodat": (259, 33, errno.EPERM),
    "symlinkat": (266, 36, errno.EPERM), "linkat": (265, 37, errno.EPERM), "clone3": (435, 435, errno.ENOSYS),
    "flock": (73, 32, errno.EPERM), "fadvise64": (221, 223, errno.EPERM), "mincore": (27, 232, errno.EPERM),
    "ioctl": (16, 29, errno.EPERM), "prctl": (157, 167, errno.EPERM), "capset": (126, 91, errno.EPERM),
    "sendmsg": (46, 211, errno.EPERM), "recvmsg": (47, 212, errno.EPERM), "pidfd_getfd": (438, 438, errno.EPERM),
}  # fmt: skip
ARCH: Final = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}

_LD_W_ABS, _JEQ, _JSET, _RET = 0x20, 0x15, 0x45, 0x06
_KILL, _ALLOW, _ERRNO = 0x80000000, 0x7FFF0000, 0x00050000
_NR, _ARCH, _ARG0, _ARG1, _ARG2 = 0, 4, 16, 24, 32  # offsets in struct seccomp_data


OPEN_FILES: Final = 128
HIDDEN: Final = ("/proc/self", "/proc/1", "/sys/kernel", "/etc/passwd", "/dev/shm", "/dev/null", "/root", "/home")
SEALED: Final = ("/", "/opt", "/opt/site", "/opt/judge", "/usr", "/usr/lib")


class LockdownError(Exception):
    """One sentence on what could not be locked down."""


def _arch(machine: str) -> tuple[int, int]:
    if machine not in ARCH:
        raise LockdownError(f"there is no system call table for the processor type {machine}; use x86_64 or aarch64")
    return ARCH[machine]


def column() -> int:
    """Which number of a pair holds on this machine."""
    return _arch(platform.machine())[0]


@cache
def filter_program(machine: str) -> bytes:
    """The allow-list as classic BPF for this machine; every call not named gets EPERM, a foreign ABI kills."""
    column, audit = _arch(machine)

    def op(code: int, jump_true: int, jump_false: int, k: int) -> bytes:
        return struct.pack("<HBBI", code, jump_true, jump_false, k)

    program = [op(_LD_W_ABS, 0, 0, _ARCH), op(_JEQ, 1, 0, audit), op(_RET, 0, 0, _KILL), op(_LD_W_ABS, 0, 0, _NR)]
    if machine == "x86_64":  # the x32 ABI hides a second table above bit 30
        program += [op(_JSET, 0, 1, 0x40000000), op(_RET, 0, 0, _KILL)]
    for numbers in ALLOWED.values():
        number = numbers[column]
        if number is not None:
            program += [op(_JEQ, 0, 1, number), op(_RET, 0, 0, _ALLOW)]
    # glibc falls back from clone3 to clone when it hears ENOSYS; clone's flags can be read by the filter
    program += [op(_JEQ, 0, 1, CLONE3[column]), op(_RET, 0, 0, _ERRNO | errno.ENOSYS)]
    program += [
        op(_JEQ, 0, 5, CLONE[column]),
        op(_LD_W_ABS, 0, 0, _ARG0),
        op(_JSET, 2, 0, CLONE_NEW_ANY),
        op(_JSET, 0, 1, CLONE_THREAD),
        op(_RET, 0, 0, _ALLOW),
        op(_RET, 0, 0, _ERRNO | errno.EPERM),
    ]
    program += [op(_JEQ, 0, len(FCNTL_COMMANDS) + 3, FCNTL[column]), op(_LD_W_ABS, 0, 0, _ARG1)]
    program += [op(_JEQ, len(FCNTL_COMMANDS) - i, 0, command) for i, command in enumerate(FCNTL_COMMANDS)]
    program += [op(_RET, 0, 0, _ERRNO | errno.EPERM), op(_RET, 0, 0, _ALLOW)]
    # prlimit64 may read limits (no new value given: both halves of the pointer are zero), never set them
    program += [
        op(_JEQ, 0, 5, PRLIMIT64[column]),
        op(_LD_W_ABS, 0, 0, _ARG2),
        op(_JEQ, 0, 3, 0),
        op(_LD_W_ABS, 0, 0, _ARG2 + 4),
        op(_JEQ, 0, 1, 0),
        op(_RET, 0, 0, _ALLOW),
        op(_RET, 0, 0, _ERRNO | errno.EPERM),
    ]
    return b"".join(program)


_libc = ctypes.CDLL(None, use_errno=True)
_CAP_HEADER = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3, this process


def _prctl(option: int, argument: int, pointer: object = 0) -> None:
    if _libc.prctl(option, ctypes.c_ulong(argument), pointer, 0, 0) != 0:
        raise LockdownError(f"prctl({option}) was refused: {os.strerror(ctypes.get_errno())}")


def drop_rights(uid: int) -> None:
    """Become ``uid`` for good when this process still is root, and forbid ever gaining rights again."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    none = (ctypes.c_uint32 * 6)()  # the change of uid leaves the inheritable set: empty all three
    if _libc.capset(_CAP_HEADER, none) != 0:
        raise LockdownError("the capabilities could not be given up")
    dumpable(False)
    _prctl(PR_SET_NO_NEW_PRIVS, 1)


def die_with_parent() -> None:
    """End when the parent ends; to be said again after a change of uid, which clears what bwrap set."""
    _prctl(PR_SET_PDEATHSIG, 9)


def dumpable(yes: bool) -> None:
    """Whether other processes of this user may look into this one, and whether its /proc files are its own."""
    _prctl(PR_SET_DUMPABLE, int(yes))


def set_limits(memory: int, cpu: int, file_size: int, processes: int) -> None:
    """Hard limits, in bytes and seconds. Pid 1 ignores SIGXCPU, so for CPU only the hard limit's SIGKILL counts."""
    for which, soft, hard in (
        (resource.RLIMIT_AS, memory, memory),
        (resource.RLIMIT_CPU, cpu, cpu + 1),
        (resource.RLIMIT_FSIZE, file_size, file_size),
        (resource.RLIMIT_NPROC, processes, processes),
        (resource.RLIMIT_NOFILE, OPEN_FILES, OPEN_FILES),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_STACK, 8 << 20, 8 << 20),
        (resource.RLIMIT_MEMLOCK, 0, 0),
        (resource.RLIMIT_MSGQUEUE, 0, 0),
    ):
        resource.setrlimit(which, (soft, hard))


def install_filter() -> None:
    """Put the system call filter in place, for this and every later thread."""
    program = filter_program(platform.machine())

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))

    _prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(Program(len(program) // 8, program)))


def interfaces() -> str:
    """Names of the network interfaces; must be asked for before the filter denies sockets."""
    return ",".join(name for _, name in socket.if_nameindex())


def _capabilities() -> int:
    data = (ctypes.c_uint32 * 6)()
    if _libc.capget(_CAP_HEADER, data) != 0:
        raise LockdownError("the capabilities could not be read")
    return sum(data)


def rights() -> dict[str, str]:
    """Who this process is after ``drop_rights``; asked before the filter is in place."""
    return {
        "uid": str(os.getuid()),
        "pid": str(os.getpid()),
        "capabilities": str(_capabilities()),
        "no_new_privs": str(_libc.prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)),
        "interfaces": interfaces(),
    }


def _gives(number: int) -> int:
    """The errno that a system call with empty arguments gives; a child that should not exist ends at once."""
    ctypes.set_errno(0)
    result = _libc.syscall(ctypes.c_long(number), 0, 0, 0, 0, 0)
    return ctypes.get_errno() if result == -1 else 0


def _forks() -> bool:
    """Whether fork works, tried for real."""
    try:
        child = os.fork()
    except OSError:
        return False
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return True


def _can(path: str, flags: int) -> bool:
    try:
        os.close(os.open(path, flags, 0o600))
    except OSError:
        return False
    return True


def _descriptors(expected: Collection[int]) -> list[str]:
    """Open descriptors that should not be there: the kernel marks those that are not open."""
    every = select.poll()
    for fd in range(OPEN_FILES):
        every.register(fd, 0)
    closed = {fd for fd, event in every.poll(0) if event & select.POLLNVAL}
    return [f"descriptor {fd}" for fd in range(OPEN_FILES) if fd not in closed and fd not in expected]


def facts(descriptors: Collection[int]) -> dict[str, str]:
    """What the finished jail lets through, found by trying: ``open`` lists every hole, empty when there is none."""
    here = column()
    holes = _descriptors(descriptors)
    holes += [name for name, row in REFUSED.items() if _gives(row[here]) != row[2]]
    if _forks():
        holes.append("fork")
    holes += [path for path in HIDDEN if os.path.exists(path)]
    holes += [f"write to {folder}" for folder in SEALED if _can(f"{folder}/pixelbank-probe", os.O_CREAT | os.O_WRONLY)]
    if not _can("/tmp/pixelbank-probe", os.O_CREAT | os.O_WRONLY):
        raise LockdownError("the private /tmp of the sandbox cannot be written")
    os.unlink("/tmp/pixelbank-probe")
    return {"open": ",".join(holes)}
