"""Accepts the test data of this package and nothing else: one line, {"sample": 1 to 3} or {"seed": 0 to 2**32 - 1}.

Exit status 42 when the input is valid, 43 when it is not, with the reason on stderr.
"""

from __future__ import annotations

import re
import sys

LINE = re.compile(rb'\{"(sample|seed)": (0|[1-9][0-9]{0,9})\}\n')
BOUNDS = {b"sample": (1, 3), b"seed": (0, 2**32 - 1)}


def fault(data: bytes) -> str:
    """What is wrong with an input, in one sentence; empty when nothing is."""
    found = LINE.fullmatch(data)
    if found is None:
        return 'The input must be one line, {"sample": N} or {"seed": N}, and nothing else.'
    low, high = BOUNDS[found[1]]
    return "" if low <= int(found[2]) <= high else f"{found[1].decode()} must be from {low} to {high}."


if __name__ == "__main__":
    wrong = fault(sys.stdin.buffer.read(1000))
    if wrong:
        sys.stderr.write(f"{wrong}\n")
    sys.exit(43 if wrong else 42)
