"""The process inside the outer jail that has the libraries imported and forks one empty child per submission.

It never sees a source, an input or an answer: those go over pipes of the child's own, which are closed here. It has no
rights either. Each child is born into fresh user, mount and pid namespaces, as the first process of its pid namespace:
everything in it ends with it.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import platform
import select
import signal
import socket
import struct
from contextlib import suppress
from typing import Final, NoReturn

from problems.judge.jail import lockdown, runner

# judge -> zygote, with the child's ends of its three pipes and the open cgroup.procs files of its groups:
# job, address space, seconds of processor time, file size, processes, size of /tmp
ORDER: Final = struct.Struct("<IQIQIQ")
# zygote -> judge: kind, job, wait status and processor time of what exited; a failure is followed by a text, a start is
# accompanied by the child's pidfd
TOLD: Final = struct.Struct("<BIid")
READY, STARTED, FAILED, EXITED = 1, 2, 3, 4
MAX_MESSAGE: Final = 1024

CLONE_PIDFD, CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID = 0x00001000, 0x00020000, 0x10000000, 0x20000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
TMP_INODES: Final = 1024

# What learners' programs import most, so that no child has to.
COMMON: Final = (
    "numpy", "numpy.random", "numpy.linalg", "numpy.fft", "numpy.ma", "numpy.polynomial", "abc", "array", "bisect",
    "collections", "contextlib", "copy", "dataclasses", "decimal", "enum", "fractions", "functools", "heapq", "inspect",
    "itertools", "json", "math", "numbers", "operator", "random", "re", "statistics", "string", "sys", "threading",
    "time", "traceback", "typing", "warnings",
)  # fmt: skip

_libc = ctypes.CDLL(None, use_errno=True)
_python = ctypes.PyDLL(None, use_errno=True)  # keeps Python's lock: what is called is part of a fork


def _tmpfs(where: bytes, flags: int, options: str) -> None:
    flags |= MS_NOSUID | MS_NODEV | MS_NOEXEC
    result = _libc.mount(b"tmpfs", where, b"tmpfs", ctypes.c_ulong(flags), options.encode())
    if result != 0:
        reason = os.strerror(ctypes.get_errno())
        raise lockdown.LockdownError(f"an empty {where.decode()} could not be mounted: {reason}")


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def _fork_apart() -> tuple[int, int]:
    """``os.fork`` into new user, mount and pid namespaces: the pid and its pidfd, or 0 and -1 in the child.

    Raises LockdownError. glibc keeps the number of the running thread in memory; it is 1 here and 1 in the child.
    """
    flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_PIDFD | signal.SIGCHLD
    pidfd = ctypes.c_int(-1)
    _python.PyOS_BeforeFork()
    pid = _python.syscall(
        ctypes.c_long(lockdown.CLONE[lockdown.column()]), ctypes.c_ulong(flags), None, ctypes.byref(pidfd), None, None
    )
    if pid == 0:
        _python.PyOS_AfterFork_Child()
        return 0, -1
    error = ctypes.get_errno()
    _python.PyOS_AfterFork_Parent()
    if pid < 0:
        raise lockdown.LockdownError(f"namespaces could not be made: {os.strerror(error)}")
    return pid, pidfd.value


def _settle(user: int, groups: list[int], tmp_size: int) -> None:
    """In a new child: join the control groups, be somebody, hide /proc, and have a private, bounded /tmp."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for group in groups:
        os.write(group, b"0")
    lockdown.dumpable(True)  # /proc/self belongs to root otherwise
    _write("/proc/self/oom_score_adj", "1000")  # when memory is short, this is what has to go
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{user} {user} 1")
    _tmpfs(b"/proc", MS_RDONLY, "size=4k,nr_inodes=1,mode=0555")
    _tmpfs(b"/tmp", 0, f"size={tmp_size},nr_inodes={TMP_INODES},mode=0700")
    os.setsid()


def _obey(link: socket.socket, user: int, order: bytes, fds: list[int], children: dict[int, int]) -> None:
    """Fork the child that is ordered, and tell the judge which process it is."""
    job, memory, cpu, file_size, processes, tmp_size = ORDER.unpack(order)
    incoming, outgoing, printed, *groups = fds
    try:
        pid, pidfd = _fork_apart()
    except lockdown.LockdownError as error:
        link.send(TOLD.pack(FAILED, job, 0, 0.0) + str(error).encode())
        return
    if pid == 0:
        link.detach()
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        runner.begin(
            incoming, outgoing, user, memory, cpu, file_size, processes,
            prepare=lambda: _settle(user, groups, tmp_size),
        )  # fmt: skip
    children[pid] = job
    socket.send_fds(link, [TOLD.pack(STARTED, job, 0, 0.0)], [pidfd])
    os.close(pidfd)


def _reap(link: socket.socket, children: dict[int, int]) -> None:
    """Tell the judge which children have ended, and how."""
    while children:
        pid, status, usage = os.wait4(-1, os.WNOHANG)
        if not pid:
            return
        job = children.pop(pid, 0)
        link.send(TOLD.pack(EXITED, job, status, usage.ru_utime + usage.ru_stime))


def serve(link: socket.socket, user: int) -> NoReturn:
    """Fork a child for each order until the judge closes the connection."""
    woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    children: dict[int, int] = {}  # pid: job
    poll = select.poll()
    poll.register(link, select.POLLIN)
    poll.register(woken, select.POLLIN)
    link.send(TOLD.pack(READY, 0, 0, 0.0))
    while True:
        for fd, _ in poll.poll():
            if fd == woken:
                with suppress(BlockingIOError):
                    os.read(woken, 4096)
                _reap(link, children)
                continue
            order, fds, _, _ = socket.recv_fds(link, MAX_MESSAGE, 8)
            if not order:
                os._exit(0)
            _obey(link, user, order, fds, children)
            for given in fds:
                os.close(given)


def main(control: str, user: str, library: str) -> NoReturn:
    """Give up all rights, import, and serve. Called by the one-line program that bwrap starts."""
    fd = int(control)
    os.closerange(3, fd)
    os.closerange(fd + 1, 4096)
    link = socket.socket(fileno=fd)
    try:
        lockdown.drop_rights(int(user))
        lockdown.die_with_parent()
        for name in (*COMMON, library):
            importlib.import_module(name)
        lockdown.filter_program(platform.machine())  # made once, for all children
        runner.rehearse()
        gc.collect()
        gc.freeze()  # the collector of a child then leaves these pages shared
    except (lockdown.LockdownError, OSError, ImportError) as error:
        link.send(TOLD.pack(FAILED, 0, 0, 0.0) + str(error)[:500].encode())
        os._exit(1)
    serve(link, os.getuid())
