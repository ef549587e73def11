"""The texts of the catalogue, as the rest of the site needs them."""

from __future__ import annotations

from collections.abc import Iterator

from pixelbank.core import markdown, mathlock
from problems import packages


def formulas() -> Iterator[mathlock.Formula]:
    """Every formula in statements, editorials and hints; their MathML is kept in the lock file."""
    for name in packages.names():
        package = packages.get(name)
        for text in (package.statement, package.editorial, *package.hints):
            yield from markdown.formulas(text)
