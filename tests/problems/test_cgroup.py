"""Control groups of both versions, on a made-up file system; the real one is in test_sandbox."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import pytest

from problems.judge import cgroup

MIB = 1 << 20


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, Path]], Path]:
    """Pretend that this process is in these groups; returns the root."""

    def pretend(folders: dict[str, Path]) -> Path:
        for folder in folders.values():
            folder.mkdir(parents=True, exist_ok=True)
        monkeypatch.setattr(cgroup, "_own", lambda root: folders)
        return tmp_path

    return pretend


def _v2(folder: Path, subtree: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cgroup.controllers").write_text("cpu memory pids")
    (folder / "cgroup.subtree_control").write_text(subtree)
    (folder / "cgroup.procs").write_text("11\n12\n")


def test_version_1_has_a_folder_for_each_controller(tmp_path: Path, own: Callable[[dict[str, Path]], Path]) -> None:
    root = own({"memory": tmp_path / "memory/job", "pids": tmp_path / "pids/job"})
    group = cgroup.create(5 * MIB, 7, root)
    assert group is not None
    assert group.version == 1
    assert (group.folders["memory"] / "memory.limit_in_bytes").read_text() == str(5 * MIB)
    assert (group.folders["pids"] / "pids.max").read_text() == "7"
    (group.folders["memory"] / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 0\n")
    assert not group.out_of_memory()
    (group.folders["memory"] / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 1\n")
    assert group.out_of_memory()
    group.add(4711)
    assert {(folder / "cgroup.procs").read_text() for folder in group.folders.values()} == {"4711"}


def test_version_2_where_limits_are_delegated_already(tmp_path: Path, own: Callable[[dict[str, Path]], Path]) -> None:
    _v2(tmp_path / "job", "memory pids")
    group = cgroup.create(5 * MIB, 7, own({"": tmp_path / "job"}))
    assert group is not None
    assert group.version == 2
    folder = group.folders["memory"]
    assert folder.parent == tmp_path / "job"
    assert ((folder / "memory.max").read_text(), (folder / "pids.max").read_text()) == (str(5 * MIB), "7")
    (folder / "memory.events").write_text("low 0\noom 1\noom_kill 1\n")
    assert group.out_of_memory()
    assert not (tmp_path / "job" / cgroup.LEAF).exists()


def test_version_2_makes_room_when_processes_are_in_the_way(
    tmp_path: Path, own: Callable[[dict[str, Path]], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    job = tmp_path / "job"
    _v2(job, "")
    moved: list[str] = []
    write = Path.write_text

    def kernel(path: Path, text: str, *more: object) -> int:
        if path == job / "cgroup.subtree_control" and len(moved) < 2:
            raise OSError(errno.EBUSY, "busy")
        if path == job / cgroup.LEAF / "cgroup.procs":
            moved.append(text)
        return write(path, text)

    monkeypatch.setattr(Path, "write_text", kernel)
    root = own({"": job})
    group = cgroup.create(5 * MIB, 7, root)
    assert moved == ["11", "12"]
    assert group is not None
    assert group.folders["memory"].parent == job
    # from now on this process is in the leaf; groups still go beside it
    own({"": job / cgroup.LEAF})
    _v2(job / cgroup.LEAF, "")
    (job / "cgroup.subtree_control").write_text("memory pids")
    second = cgroup.create(5 * MIB, 7, root)
    assert second is not None
    assert second.folders["memory"].parent == job


def test_where_nothing_can_be_written_there_is_none(tmp_path: Path, own: Callable[[dict[str, Path]], Path]) -> None:
    assert cgroup.create(5 * MIB, 7, own({})) is None
    assert cgroup.create(5 * MIB, 7, own({"": tmp_path / "empty"})) is None
    blocked = tmp_path / "memory"
    blocked.write_text("a file where a folder should be")
    assert cgroup.create(5 * MIB, 7, own({"memory": tmp_path})) is not None


def test_only_groups_of_dead_judges_are_swept(tmp_path: Path, own: Callable[[dict[str, Path]], Path]) -> None:
    root = own({"": tmp_path / "job"})
    dead, alive, other = (tmp_path / "job" / name for name in (f"{cgroup.PREFIX}4194999-1", f"{cgroup.PREFIX}1-1", "x"))
    for folder in (dead, alive, other):
        folder.mkdir()
    assert cgroup.sweep(root) == 1
    assert not dead.exists()
    assert alive.exists()
    assert other.exists()
