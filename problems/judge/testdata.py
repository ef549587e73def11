"""The folder ``data/`` of a package: which cases a Kattis judge runs, and what must not be in it.

A test case is a name for cases that the generator makes: ``{"sample": 2}`` is the second sample, ``{"seed": 17}`` are
the hidden cases of that seed. Answers are computed and never stored, so that none can leak.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

MAX_BYTES: Final = 1000
MAX_INTERACTION: Final = 64 << 10
MAX_SEED: Final = 2**32 - 1
KEYS: Final = {"sample": "sample", "secret": "seed"}  # folder -> the key of its inputs


class DataError(Exception):
    """A test case is not as it should be. One sentence, with the file's name."""


@dataclass(frozen=True, slots=True)
class DataCase:
    """A test case by its name in the package, such as secret/01: a sample's number, or a seed."""

    name: str
    key: str
    number: int


def read(folder: Path) -> tuple[DataCase, ...]:
    """All test cases of the package in ``folder``: the samples, then the secret ones, by name. Raises DataError."""
    found = [case for group in KEYS for case in _group(folder, group)]
    if not any(case.key == "seed" for case in found):
        raise DataError(f"{folder.name}/data/secret: there must be at least one test case, such as 01.in")
    return tuple(found)


def read_case(path: Path) -> DataCase:
    """The test case in one .in file, wherever it lies. Raises DataError."""
    return _case(path, path.name)


def _group(folder: Path, group: str) -> list[DataCase]:
    where = f"{folder.name}/data/{group}"
    try:
        paths = sorted(p for p in (folder / "data" / group).iterdir() if p.name[0] not in ".-")
    except FileNotFoundError:
        return []
    except OSError:
        raise DataError(f"{where}: this must be a folder") from None
    names = {path.name for path in paths}
    cases = []
    for path in paths:
        label = f"{where}/{path.name}"
        known = path.suffix in (".in", ".ans") or (path.suffix == ".interaction" and group == "sample")
        if not known or not path.is_file():
            raise DataError(f"{label}: test data are files NAME.in and NAME.ans, for samples also NAME.interaction")
        if f"{path.stem}.in" not in names:
            raise DataError(f"{label}: there is no {path.stem}.in")
        if path.suffix == ".ans" and _bytes(path, label, MAX_BYTES):
            raise DataError(f"{label}: this file must be empty, the output validator computes the answers")
        if path.suffix == ".interaction":
            _interaction(path, label)
        if path.suffix != ".in":
            continue
        if f"{path.stem}.ans" not in names:
            raise DataError(f"{label}: there is no {path.stem}.ans; an empty file is enough")
        case = _case(path, label)
        if case.key != KEYS[group]:
            raise DataError(f"{label}: the key must be {KEYS[group]!r} here, not {case.key!r}")
        cases.append(DataCase(f"{group}/{path.stem}", case.key, case.number))
    return cases


def _bytes(path: Path, label: str, most: int) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(most + 1)
    except OSError as error:
        raise DataError(f"{label}: this file cannot be read ({type(error).__name__})") from None
    if len(data) > most:
        raise DataError(f"{label}: this file is longer than {most} bytes")
    return data


def _case(path: Path, label: str) -> DataCase:
    try:
        data: Any = json.loads(_bytes(path, label, MAX_BYTES))
    except (ValueError, RecursionError):
        raise DataError(f'{label}: this must be one JSON object such as {{"seed": 17}}') from None
    if not isinstance(data, dict) or len(data) != 1:
        raise DataError(f'{label}: this must be one JSON object with one key, such as {{"seed": 17}}')
    key, number = next(iter(data.items()))
    if key not in KEYS.values():
        raise DataError(f"{label}: the key {key[:60]!r} is not known; known are sample, seed")
    if type(number) is not int or not (key == "sample") <= number <= MAX_SEED:
        raise DataError(f"{label}: {key} must be a whole number from {int(key == 'sample')} to {MAX_SEED}")
    return DataCase(path.stem, key, number)


def _interaction(path: Path, label: str) -> None:
    lines = _bytes(path, label, MAX_INTERACTION).decode("utf-8", "replace").splitlines()
    if not lines or not all(line.startswith(("<", ">")) for line in lines):
        raise DataError(f"{label}: each line must begin with < (validator) or > (submission)")
