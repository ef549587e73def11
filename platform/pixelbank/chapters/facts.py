"""The facts behind the chapter's numbers: reading `facts.yml`, computing a fact, comparing it with what is shown."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from pixelbank.chapters.cores.quantities import FORMULAS

PATH = Path(__file__).with_name("facts.yml")
_SHOWN = re.compile(r"(?P<number>[−-]?\d+(?P<places>\.\d+)?(?:e(?P<power>[−-]?\d+))?)(?P<unit>.*)")


class FactError(ValueError):
    """A fact that is missing, incomplete, or not what the text says: one clear sentence."""


@dataclass(frozen=True)
class Fact:
    """A number in the text. Exactly one of `formula` and `quoted` is given."""

    name: str
    shown: str
    how: str
    source: str
    formula: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    unit: float = 1.0
    quoted: float | None = None

    def value(self) -> float:
        """The number in the shown unit: computed now, or as quoted."""
        if self.quoted is not None:
            return self.quoted
        return FORMULAS[self.formula](**self.arguments) / self.unit

    def check(self) -> None:
        """Raise FactError unless the computed number, rounded as shown, is the shown one."""
        match = _SHOWN.fullmatch(self.shown)
        if match is None:
            raise FactError(f"{self.name}: cannot read a number in {self.shown!r}")
        number = float(match["number"].replace("−", "-"))
        places = len(match["places"] or ".") - 1
        power = int((match["power"] or "0").replace("−", "-"))
        half_a_digit = 0.5 * 10.0 ** (power - places)
        if abs(self.value() - number) > half_a_digit * (1 + 1e-9):
            raise FactError(f"{self.name}: the text says {self.shown}, but it is {self.value():.6g}")


@functools.cache
def all_facts() -> dict[str, Fact]:
    """Every fact by name. Raises FactError when an entry is incomplete."""
    facts = {}
    for name, entry in yaml.safe_load(PATH.read_text(encoding="utf-8")).items():
        known = {"shown", "formula", "with", "unit", "quoted", "how", "source"}
        if unknown := set(entry) - known:
            raise FactError(f"{name}: unknown field {sorted(unknown)[0]!r}")
        if ("formula" in entry) == ("quoted" in entry):
            raise FactError(f"{name}: give either a formula or a quoted number")
        if entry.get("formula", next(iter(FORMULAS))) not in FORMULAS:
            raise FactError(f"{name}: there is no formula {entry['formula']!r} in cores/quantities.py")
        for needed in ("shown", "how", "source"):
            if not entry.get(needed):
                raise FactError(f"{name}: {needed} is missing")
        facts[name] = Fact(
            name=name,
            shown=entry["shown"],
            how=entry["how"],
            source=entry["source"],
            formula=entry.get("formula", ""),
            arguments=entry.get("with", {}),
            unit=float(entry.get("unit", 1)),
            quoted=entry.get("quoted"),
        )
    return facts
