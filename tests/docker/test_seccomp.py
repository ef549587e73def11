"""The judge's seccomp profile, loaded by libseccomp as an engine would: the judge must work under it.

This is as near as it goes without an engine. AppArmor, masked paths and the engine's own set-up are not tried here.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import subprocess
import sys

import pytest

from tests.conftest import ROOT

UNDER = """
import ctypes, json, os, sys
names = json.load(open("docker/seccomp-judge.json"))["syscalls"][0]["names"]
lib = ctypes.CDLL("libseccomp.so.2", use_errno=True)
lib.seccomp_init.restype = ctypes.c_void_p
context = ctypes.c_void_p(lib.seccomp_init(ctypes.c_uint32(0x00050001)))  # SCMP_ACT_ERRNO(EPERM)
for name in names:
    number = lib.seccomp_syscall_resolve_name(name.encode())
    assert number != -1, f"unknown system call {name}"
    assert lib.seccomp_rule_add(context, ctypes.c_uint32(0x7FFF0000), number, 0) == 0, name  # SCMP_ACT_ALLOW
assert ctypes.CDLL(None).prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS, as compose.yaml has it
assert lib.seccomp_load(context) == 0
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""

pytestmark = pytest.mark.skipif(ctypes.util.find_library("seccomp") is None, reason="libseccomp is not installed")


def under_profile(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", UNDER, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=100, check=False
    )


def test_the_profile_is_in_force() -> None:
    code = (
        "import ctypes, os\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "assert libc.ptrace(0, 0, 0, 0) == -1 and ctypes.get_errno() == 1\n"
        "assert libc.unshare(0x10000000) == 0, os.strerror(ctypes.get_errno())  # CLONE_NEWUSER\n"
        "print('in force')\n"
    )
    done = under_profile(code)
    assert done.stdout == "in force\n", done.stderr


def test_the_judge_withstands_its_own_attacks_under_it() -> None:
    code = (
        "from problems.judge import selftest\n"
        "sandbox, report = selftest.selftest()\n"
        "print(report.usable, report.problems)\n"
    )
    done = under_profile(code)
    assert done.stdout == "True ()\n", done.stdout + done.stderr
