"""The process inside the outer jail that has the libraries imported and forks one empty child per submission.

It never sees a source, an input or an answer: those go over pipes of the child's own, which are closed here. It has no
rights of its own either; each child gets fresh user, mount and pid namespaces, made by a helper that then goes away,
so that the child is the first process of its pid namespace and everything in it ends with it.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
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
# zygote -> judge: kind, job (of an exit: the pid), pid (of an exit: the wait status), processor time of what exited;
# a failure is followed by a text, a start is accompanied by the child's pidfd
TOLD: Final = struct.Struct("<BIid")
READY, STARTED, FAILED, EXITED = 1, 2, 3, 4
MAX_MESSAGE: Final = 1024

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID = 0x00020000, 0x10000000, 0x20000000
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


def _checked(result: int, what: str) -> None:
    if result != 0:
        raise lockdown.LockdownError(f"{what}: {os.strerror(ctypes.get_errno())}")


def _tmpfs(where: bytes, flags: int, options: str) -> None:
    flags |= MS_NOSUID | MS_NODEV | MS_NOEXEC
    result = _libc.mount(b"tmpfs", where, b"tmpfs", ctypes.c_ulong(flags), options.encode())
    _checked(result, f"an empty {where.decode()} could not be mounted")


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def enter_namespaces(tmp_size: int) -> None:
    """New user, mount and (for the next fork) pid namespaces, with an empty /proc and a private, bounded /tmp."""
    user, group = os.getuid(), os.getgid()
    lockdown.dumpable(True)  # /proc/self belongs to root otherwise
    _write("/proc/self/oom_score_adj", "1000")  # when memory is short, this is what has to go
    _checked(_libc.unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID), "namespaces could not be made")
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")
    _tmpfs(b"/proc", MS_RDONLY, "size=4k,nr_inodes=1,mode=0555")
    _tmpfs(b"/tmp", 0, f"size={tmp_size},nr_inodes={TMP_INODES},mode=0700")


def _prepare(link: socket.socket, order: bytes, fds: list[int]) -> NoReturn:
    """In the helper: make the namespaces and fork the child into them; say which process it is, and go."""
    job, memory, cpu, file_size, processes, tmp_size = ORDER.unpack(order)
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        incoming, outgoing, printed, *groups = fds
        for group in groups:
            os.write(group, b"0")  # the helper joins, the child is born a member
        enter_namespaces(tmp_size)
        pid = os.fork()
        if pid == 0:
            link.detach()
            os.setsid()
            os.dup2(printed, 1)
            os.dup2(printed, 2)
            runner.begin(incoming, outgoing, os.getuid(), memory, cpu, file_size, processes)
        pidfd = os.pidfd_open(pid)
        socket.send_fds(link, [TOLD.pack(STARTED, job, pid, 0.0)], [pidfd])
    except BaseException as error:  # noqa: BLE001 - whatever it is, the judge is told and the helper ends
        with suppress(OSError):
            link.send(TOLD.pack(FAILED, job, 0, 0.0) + str(error)[:500].encode())
    os._exit(0)


def _reap(link: socket.socket, helpers: set[int]) -> None:
    """Tell the judge which children have ended, and how."""
    while True:
        try:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        if pid in helpers:
            helpers.discard(pid)
        else:
            link.send(TOLD.pack(EXITED, pid, status, usage.ru_utime + usage.ru_stime))


def serve(link: socket.socket) -> NoReturn:
    """Fork a child for each order until the judge closes the connection."""
    woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    helpers: set[int] = set()
    poll = select.poll()
    poll.register(link, select.POLLIN)
    poll.register(woken, select.POLLIN)
    link.send(TOLD.pack(READY, 0, os.getpid(), 0.0))
    while True:
        for fd, _ in poll.poll():
            if fd == woken:
                with suppress(BlockingIOError):
                    os.read(woken, 4096)
                _reap(link, helpers)
                continue
            order, fds, _, _ = socket.recv_fds(link, MAX_MESSAGE, 8)
            if not order:
                os._exit(0)
            pid = os.fork()
            if pid == 0:
                _prepare(link, order, fds)
            helpers.add(pid)
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
        runner.rehearse()
        gc.collect()
        gc.freeze()  # the collector of a child then leaves these pages shared
    except (lockdown.LockdownError, OSError, ImportError) as error:
        link.send(TOLD.pack(FAILED, 0, 0, 0.0) + str(error)[:500].encode())
        os._exit(1)
    serve(link)
