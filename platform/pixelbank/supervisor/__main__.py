"""`python -m pixelbank.supervisor`: what `./dev run` starts once everything is installed."""

from __future__ import annotations

import argparse
import asyncio
import sys

from pixelbank.supervisor.run import CannotStart, run


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev run", description="Start PixelBank on this machine.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: this machine only)")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on; 0 picks a free one")
    parser.add_argument("--reload", action="store_true", help="restart web and workers when a source file changes")
    options = parser.parse_args()
    if not 0 <= options.port <= 65535:
        parser.error(f"--port {options.port}: a port lies between 0 and 65535")
    try:
        return asyncio.run(run(options.host, options.port, reload=options.reload))
    except CannotStart as reason:
        print(f"dev: {reason}", file=sys.stderr)  # noqa: T201 - a command line's answer
        return 1


if __name__ == "__main__":
    sys.exit(main())
