"""The numbers of a figure as an ordinary table, in the same markup as `frontend/elements/lib/figure.ts`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

_NUMBER = re.compile("−?[0-9.]+(?:e−?[0-9]+)?|not a number|infinite")
"""As `cores.difference_error.number` writes them, and plain counts."""


def number_columns(rows: Sequence[Sequence[str]]) -> list[bool]:
    """For each column: whether all of its cells are numbers, so that heading and cells stand at its end."""
    return [all(map(_NUMBER.fullmatch, column)) for column in zip(*rows, strict=True)]


def data_table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table behind a disclosure; the first cell of each row is its header and stands at the start."""
    kinds = [' class="number"' if numbers and at else "" for at, numbers in enumerate(number_columns(rows))]
    top = "".join(f'<th scope="col"{kind}>{escape(cell)}</th>' for cell, kind in zip(head, kinds, strict=True))
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(f"<td{kind}>{escape(cell)}</td>" for cell, kind in zip(row[1:], kinds[1:], strict=True))
        + "</tr>"
        for row in rows
    )
    return (
        f'<details><summary>Show the numbers</summary><div class="table" role="region" tabindex="0" '
        f'aria-label="{escape(caption)}"><table><caption>{escape(caption)}</caption>'
        f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div></details>"
    )
