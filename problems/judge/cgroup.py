"""Memory and process limits by control groups, version 1 or 2, wherever this process may write. Never required."""

from __future__ import annotations

import itertools
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_numbers = itertools.count()
PREFIX = "pixelbank-judge-"
LEAF = "pixelbank-leaf"  # version 2: where the judge itself is, beside the groups of its children


@dataclass(slots=True)
class Group:
    """One control group for one sandboxed process; ``folders`` maps controller to its directory."""

    folders: dict[str, Path]
    version: int

    def add(self, pid: int) -> None:
        """Put a process into the group (before it runs anything of a learner)."""
        for folder in set(self.folders.values()):
            (folder / "cgroup.procs").write_text(str(pid))

    def out_of_memory(self) -> bool:
        """Whether the kernel killed a process of this group for memory."""
        name = "memory.events" if self.version == 2 else "memory.oom_control"
        try:
            lines = (self.folders["memory"] / name).read_text().splitlines()
        except OSError:
            return False
        return any(line.startswith("oom_kill ") and line.split()[1] != "0" for line in lines)

    def open_members(self) -> list[int]:
        """Descriptors through which a process can put itself into the group by writing ``0``: whoever opened them is
        who the kernel asks for permission."""
        folders = set(self.folders.values())
        return [os.open(folder / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC) for folder in folders]

    def try_remove(self) -> bool:
        """Take the group away if the kernel has let go of its processes; whether it is gone."""
        for folder in set(self.folders.values()):
            with suppress(FileNotFoundError):
                try:
                    folder.rmdir()
                except OSError:
                    return False
        return True

    def remove(self) -> None:
        """Take the group away once its processes are gone; the kernel may need a moment to let go of them."""
        deadline = time.monotonic() + 1.0
        while not self.try_remove() and time.monotonic() < deadline:
            os.sched_yield()


def _own(root: Path) -> dict[str, Path]:
    """Directory of this process's own group for each usable controller (v1), or under the key "" (v2)."""
    found: dict[str, Path] = {}
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            found[""] = root / path.lstrip("/")
        for controller in controllers.split(","):
            if controller in ("memory", "pids"):
                found[controller] = root / controller / path.lstrip("/")
    return found


def create(memory: int, processes: int, root: Path = Path("/sys/fs/cgroup")) -> Group | None:
    """A new limited group below this process's own one; None where that is not possible."""
    name = f"{PREFIX}{os.getpid()}-{next(_numbers)}"
    try:
        own = _own(root)
        if "memory" in own and own["memory"].is_dir():
            return _create_v1({key: path for key, path in own.items() if key}, name, memory, processes)
        if "" in own and (own[""] / "cgroup.controllers").is_file():
            return _create_v2(own[""], name, memory, processes)
    except OSError:
        return None
    return None


def _create_v1(own: dict[str, Path], name: str, memory: int, processes: int) -> Group:
    group = Group({}, 1)
    try:
        for controller, parent in own.items():
            (parent / name).mkdir()
            group.folders[controller] = parent / name
        (group.folders["memory"] / "memory.limit_in_bytes").write_text(str(memory))
        swap = group.folders["memory"] / "memory.memsw.limit_in_bytes"
        if swap.exists():
            swap.write_text(str(memory))
        if "pids" in group.folders:
            (group.folders["pids"] / "pids.max").write_text(str(processes))
    except OSError:
        group.remove()
        raise
    return group


def _create_v2(own: Path, name: str, memory: int, processes: int) -> Group:
    parent = own.parent if own.name == LEAF else own
    if "memory" not in (parent / "cgroup.subtree_control").read_text().split():
        _delegate(parent)
    folder = parent / name
    folder.mkdir()
    group = Group({"memory": folder, "pids": folder}, 2)
    try:
        (folder / "memory.max").write_text(str(memory))
        if (folder / "memory.swap.max").exists():
            (folder / "memory.swap.max").write_text("0")
        (folder / "pids.max").write_text(str(processes))
    except OSError:
        group.remove()
        raise
    return group


def _delegate(parent: Path) -> None:
    """Let groups below ``parent`` have limits. Version 2 allows that only where no process is in ``parent`` itself, so
    those that are (this one and its neighbours in a container or service) move into a leaf beside the new groups."""
    control = parent / "cgroup.subtree_control"
    try:
        control.write_text("+memory +pids")
    except OSError:
        leaf = parent / LEAF
        leaf.mkdir(exist_ok=True)
        for pid in (parent / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):  # it has ended since
                (leaf / "cgroup.procs").write_text(pid)
        control.write_text("+memory +pids")


def sweep(root: Path = Path("/sys/fs/cgroup")) -> int:
    """Remove groups that a killed judge left behind; returns how many."""
    removed = 0
    try:
        parents = set(_own(root).values())
    except OSError:
        return 0
    for own in parents:
        parent = own.parent if own.name == LEAF else own
        for folder in parent.glob(f"{PREFIX}*") if parent.is_dir() else ():
            owner = folder.name.removeprefix(PREFIX).split("-")[0]
            if owner.isdigit() and not Path(f"/proc/{owner}").exists():
                with suppress(OSError):
                    folder.rmdir()
                    removed += 1
    return removed
