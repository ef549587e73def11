"""The whole site as `./dev run` starts it, for tests: own state folder, free port, a look at its processes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType

from tests.environment import ROOT

ADDRESS = re.compile(rb"PixelBank is at (http://\S+)")


class Site:
    """`with Site() as site: ... site.address`; leaving stops it as Ctrl-C does."""

    def __init__(self, **env: str) -> None:
        self.var = Path(tempfile.mkdtemp(prefix="s-", dir=ROOT / "var"))
        without = ("REDIS_URL", "DATABASE_URL", "PIXELBANK_ENV", "DJANGO_SETTINGS_MODULE")
        self.env = {name: value for name, value in os.environ.items() if name not in without}
        self.env |= {"PIXELBANK_VAR": str(self.var), **env}
        self.output = self.var / "output.txt"

    def __enter__(self) -> Site:
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "pixelbank.supervisor", "--port", "0"],
                cwd=ROOT,
                env=self.env,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        deadline = time.monotonic() + 90
        while not (found := ADDRESS.search(self.output.read_bytes())):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"the site did not start:\n{self.log()}")
            time.sleep(0.05)
        self.address = found[1].decode().rstrip("/")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self, number: int = signal.SIGINT) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(60)

    def log(self) -> str:
        return self.output.read_text(errors="replace")

    def processes(self) -> dict[int, str]:
        """Every living process that carries this site's state folder in its environment, by pid."""
        marker = f"PIXELBANK_VAR={self.var}".encode()
        found = {}
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            try:
                if marker in (folder / "environ").read_bytes().split(b"\0"):
                    found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue  # it ended while we looked, or is a zombie
        return found

    def pid(self, words: str) -> int:
        """The pid of the first (oldest) process whose command line contains `words`."""
        return min(pid for pid, command in self.processes().items() if words in command)
