"""What the judge asks of a sandbox, and what a sandbox must prove before a learner's line runs in it.

``warm.WarmSandbox`` forks a waiting child per submission, ``cold.ColdSandbox`` starts one bubblewrap per submission;
both give the same ``Child``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from problems.judge.jail.wire import Value
from problems.judge.verdicts import Observation, Raised

MIB: Final = 1 << 20
LIBRARIES: Final = ("numpy", "torch")
KEPT_CALLS: Final = 4096  # points remembered per case, of at most KEPT_BYTES together; further ones are only counted
KEPT_BYTES: Final = 4 << 20


class SandboxUnusable(Exception):
    """No learner code may run here. The message is one sentence: what is missing and how to fix it."""


class SandboxError(Exception):
    """A child could not be started or served for a reason that is not the learner's: the verdict is JE."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one submission. Seconds of wall time per case and for loading; bytes for the rest."""

    case_seconds: float = 2.0
    load_seconds: float = 4.0
    total_seconds: float = 30.0
    cpu_seconds: int = 30
    memory: int = 256 * MIB
    output: int = MIB
    output_kept: int = 64 << 10
    file_size: int = 8 * MIB
    tmp_size: int = 16 * MIB
    processes: int = 64
    source: int = 64 << 10
    library: str = "numpy"  # what is imported before the submission starts: one of LIBRARIES

    @property
    def address_space(self) -> int:
        """RLIMIT_AS: the memory limit plus what Python, the library and thread stacks map without using it."""
        return self.memory + (8192 if self.library == "torch" else 512) * MIB


@dataclass(frozen=True, slots=True)
class Loaded:
    """How loading a source ended: ``ok``, or the stage (compile, import, missing, or an Observation's status)."""

    ok: bool
    stage: str = ""
    raised: Raised | None = None
    column: int = 0
    ms: float = 0.0
    output: str = ""


Oracle = Callable[[Value], float]


class Child(Protocol):
    """One jailed process that serves one submission."""

    @property
    def alive(self) -> bool: ...

    def load(self, entry: str, source: str) -> Loaded: ...

    def run(self, arguments: Sequence[Value], oracle: Oracle | None) -> Observation: ...

    def close(self) -> None: ...


class Sandbox(Protocol):
    """Where children come from. ``start`` raises SandboxError when no complete jail could be had."""

    @property
    def profile(self) -> str:
        """``full``, or ``no-cgroup`` where memory is bounded by address space only."""
        ...

    def start(self, limits: Limits) -> Child: ...


def required(facts: dict[str, str]) -> str | None:
    """None when a child's own report shows a complete jail, else one sentence on the first thing that is missing."""
    if "error" in facts:
        return f"the sandbox could not lock itself down: {facts['error']}"
    try:
        checks = (
            (int(facts["uid"]) > 0, "sandboxed code would still run as root"),
            (int(facts["pid"]) == 1, "sandboxed code would see other processes (no pid namespace)"),
            (int(facts["capabilities"]) == 0, "sandboxed code would keep capabilities"),
            (int(facts["no_new_privs"]) == 1, "sandboxed code could gain privileges"),
            (
                set(facts["interfaces"].split(",")) <= {"", "lo"},
                "sandboxed code would see the network (no network namespace)",
            ),
            (facts["open"] == "", f"the sandbox has holes: {facts['open'].replace(',', ', ')}"),
        )
    except (KeyError, ValueError):
        return "the sandbox did not report all of its properties"
    return next((sentence for holds, sentence in checks if not holds), None)
