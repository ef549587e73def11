"""Writes data/ of this package: python -m problems.catalogue.numericalgradient.generators.write_data

Inputs name a sample or a seed; the cases themselves come from cases.py. The .ans files are empty on purpose: answers
are computed when they are needed, so a package that goes astray gives none away. The .interaction files show what a
right program and the validator say to each other in a sample.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from problems.judge.judge import Judge
from problems.judge.kattis import beside
from problems.judge.lines import LineSandbox
from problems.judge.package import Package, load
from problems.judge.testdata import DataCase

HERE = Path(__file__).resolve().parents[1]
SEEDS = (20251130, 17, 42)  # the first draws the cases that are the same for everybody
REFERENCE = HERE / "submissions" / "accepted" / "fresh_copies.py"


class Heard(io.RawIOBase):
    """A stream of the driver that notes each line of it with a mark."""

    def __init__(self, stream: IO[bytes], mark: str, notes: list[str]) -> None:
        self.stream, self.mark, self.notes = stream, mark, notes

    def readline(self, size: int | None = -1) -> bytes:
        line = self.stream.readline(-1 if size is None else size)
        self._note(line)
        return line

    def read(self, size: int = -1) -> bytes:
        return self.stream.read(size)

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._note(data)
        return self.stream.write(data)

    def flush(self) -> None:
        self.stream.flush()

    def _note(self, line: bytes) -> None:
        if line:
            self.notes.append(f"{self.mark} {line.decode()}")


def interaction(package: Package, number: int) -> str:
    """The conversation of a right program in a sample."""
    notes: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        beside(HERE, REFERENCE, Path(scratch) / "program")
        command = [sys.executable, str(Path(scratch) / "program" / "main.py")]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as driver:
            assert driver.stdin is not None
            assert driver.stdout is not None
            lines = LineSandbox(Heard(driver.stdout, ">", notes), Heard(driver.stdin, "<", notes))  # type: ignore[arg-type]
            Judge(lines).judge(package, "", package.cases_of(DataCase("", "sample", number)))
            lines.end()
    return "".join(notes)


def files(package: Package) -> Iterator[tuple[str, str]]:
    """(path below data/, text) of all files of test cases."""
    for number in range(1, len(package.samples()) + 1):
        yield f"sample/{number}.in", f'{{"sample": {number}}}\n'
        yield f"sample/{number}.ans", ""
        yield f"sample/{number}.interaction", interaction(package, number)
    for index, seed in enumerate(SEEDS, 1):
        yield f"secret/{index:02}.in", f'{{"seed": {seed}}}\n'
        yield f"secret/{index:02}.ans", ""


if __name__ == "__main__":
    for path, text in files(load(HERE)):
        (HERE / "data" / path).parent.mkdir(parents=True, exist_ok=True)
        (HERE / "data" / path).write_text(text, "utf-8")
