"""The packages of the catalogue, read once for each version of their files."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from problems.judge import package
from problems.judge.package import Package

CATALOGUE = Path(__file__).resolve().parent / "catalogue"


def names() -> list[str]:
    """Names of all packages in the catalogue."""
    return [folder.name for folder in package.catalogue(CATALOGUE)]


def get(name: str) -> Package:
    """The package as its files are now. Raises PackageError."""
    folder = CATALOGUE / name
    if not package.NAME.fullmatch(name) or not folder.is_dir():
        raise package.PackageError(f"{name[:40]}: there is no such package")
    return _load(name, package.digest(folder))


@lru_cache(maxsize=64)
def _load(name: str, _digest: str) -> Package:
    return package.load(CATALOGUE / name)
