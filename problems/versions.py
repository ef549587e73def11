"""What changed from one version of a source to the next, as rows of a table."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher

AROUND = 3
SAME, ADDED, REMOVED, SKIPPED = "same", "added", "removed", "skipped"


@dataclass(frozen=True, slots=True)
class Row:
    """One line: its kind, its number before and after (None where it does not exist), and its text.

    A ``skipped`` row stands for ``text`` lines that are the same in both.
    """

    kind: str
    before: int | None
    after: int | None
    text: str


def changes(before: str, after: str) -> list[Row]:
    """The changed lines with three unchanged ones around them; empty when both are equal."""
    old, new = before.splitlines(), after.splitlines()
    rows: list[Row] = []
    groups = list(SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(AROUND))
    end = 0
    for group in groups:
        _skip(rows, group[0][1] - end)
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                rows += [Row(SAME, i + 1, j1 + i - i1 + 1, old[i]) for i in range(i1, i2)]
                continue
            rows += [Row(REMOVED, i + 1, None, old[i]) for i in range(i1, i2)]
            rows += [Row(ADDED, None, j + 1, new[j]) for j in range(j1, j2)]
        end = group[-1][2]
    if groups:
        _skip(rows, len(old) - end)
    return rows


def _skip(rows: list[Row], count: int) -> None:
    if count:
        rows.append(Row(SKIPPED, None, None, f"{count} unchanged line{'' if count == 1 else 's'}"))


def counted(rows: list[Row]) -> str:
    """The changes in one sentence."""
    added, removed = (sum(row.kind == kind for row in rows) for kind in (ADDED, REMOVED))
    if not added and not removed:
        return "Both versions are the same."
    return f"{_lines(added)} added, {_lines(removed)} removed."


def _lines(count: int) -> str:
    return f"{count} line" if count == 1 else f"{count} lines"
