"""The numbers of a figure as an ordinary table, in the same markup as `frontend/elements/lib/figure.ts`."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def data_table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table behind a disclosure; the first cell of each row is its header."""
    top = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = "".join(
        f'<tr><th scope="row">{escape(row[0])}</th>'
        + "".join(f'<td class="number">{escape(cell)}</td>' for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return (
        f'<details><summary>Show the numbers</summary><div class="table" role="region" tabindex="0" '
        f'aria-label="{escape(caption)}"><table><caption>{escape(caption)}</caption>'
        f"<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div></details>"
    )
