"""Plays a package as a Kattis judge does: its driver with a program on one side, its output validator on the other.

For programs of the catalogue only, like ``trusted``: nothing here is a jail.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ACCEPTED, WRONG = 42, 43
SECONDS: Final = 60.0
_ROOT: Final = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Played:
    """How one test case ended: both exit statuses, and the validator's message for the judges."""

    validator: int
    driver: int
    message: str


def play(folder: Path, program: Path, test: Path) -> Played:
    """One program on one .in file. Raises subprocess.TimeoutExpired when they do not come to an end."""
    with tempfile.TemporaryDirectory() as scratch:
        jail, feedback = Path(scratch) / "program", Path(scratch) / "feedback"
        feedback.mkdir()
        beside(folder, program, jail)
        validator = [
            sys.executable, str(folder / "output_validator" / "validate.py"), str(test), str(test.with_suffix(".ans")),
            f"{feedback}/",
        ]  # fmt: skip
        to_driver, from_validator = os.pipe()
        to_validator, from_driver = os.pipe()
        ends: list[subprocess.Popen[bytes]] = []
        try:
            # each process holds its own two ends only, so that each sees when the other is gone
            ours = {**os.environ, "PYTHONPATH": str(_ROOT)}
            ends.append(subprocess.Popen(validator, stdin=to_validator, stdout=from_validator, env=ours))
            driver = [sys.executable, str(jail / "main.py")]
            ends.append(subprocess.Popen(driver, stdin=to_driver, stdout=from_driver, stderr=subprocess.DEVNULL))
            for fd in (to_driver, from_validator, to_validator, from_driver):
                os.close(fd)
            said, statuses = feedback / "judgemessage.txt", [end.wait(SECONDS) for end in ends]
            return Played(statuses[0], statuses[1], said.read_text("utf-8") if said.is_file() else "")
        finally:
            for end in ends:
                end.kill()
                end.wait()


def beside(folder: Path, program: Path, target: Path) -> None:
    """A program with the files that the package includes, in a new folder ``target``."""
    shutil.copytree(folder / "include" / "python3", target, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(program, target / "solution.py")


def valid_input(folder: Path, test: Path) -> bool:
    """Do all input validators of the package accept this file?"""
    for validator in sorted((folder / "input_validators").glob("*.py")):
        with test.open("rb") as stdin:
            done = subprocess.run(
                [sys.executable, "-I", str(validator)], stdin=stdin, capture_output=True, timeout=SECONDS, check=False
            )
        if done.returncode != ACCEPTED:
            return False
    return True
