"""Kills every process group that a killed supervisor left behind.

The kernel's PDEATHSIG reaches the supervisor's own children only, not the pools that they forked. So the
supervisor tells this small process, over a pipe, which groups it started (`+123`) and saw end (`-123`); when the
pipe closes because the supervisor is gone, the rest is killed.
"""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
    for group in groups:
        try:
            os.killpg(group, signal.SIGKILL)
        except ProcessLookupError:
            continue  # that one ended by itself


if __name__ == "__main__":
    main()
