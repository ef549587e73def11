"""The one registry of what a Markdown container may become.

A page writes `::: pb-ring-allreduce id=ring n=4`. Only names that were registered here are accepted, only
with the attributes they declare, and only with values in range: a spelling mistake in a chapter is an error
with its line number, never a silently empty figure. The app that owns an element registers it when Django
starts (`AppConfig.ready`), together with the function that draws its first frame on the server.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Value = int | float | str

_NAME = re.compile(r"[a-z][a-z0-9-]*")


class ElementError(ValueError):
    """A container that names an unknown element, an unknown attribute or a bad value: one clear sentence."""


@dataclass(frozen=True)
class Attribute:
    """One attribute: how its text is read, which values are allowed, and the value when it is left out.

    `default=None` makes the attribute required. `low` and `high` are inclusive and apply to numbers only.
    """

    kind: type[int] | type[float] | type[str]
    default: Value | None = None
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()

    def read(self, name: str, text: str) -> Value:
        if self.kind is str:
            if self.choices and text not in self.choices:
                raise ElementError(f"{name}={text!r} is not one of {', '.join(self.choices)}")
            return text
        try:
            number: int | float = int(text) if self.kind is int else float(text)
        except ValueError:
            kind = "whole number" if self.kind is int else "number"
            raise ElementError(f"{name}={text!r} is not a {kind}") from None
        # Written so that NaN, which compares false with everything, is refused as well.
        if not ((self.low is None or number >= self.low) and (self.high is None or number <= self.high)):
            raise ElementError(f"{name}={text} is outside {self.low} to {self.high}")
        return number


@dataclass(frozen=True)
class Element:
    """A container: `tag` is what is written into the page, `frame` draws what it shows without JavaScript.

    With a `frame` the container becomes a figure, and its Markdown body the caption; without one it is a
    plain block (an aside, say) around its body.
    """

    name: str
    tag: str
    css: str = ""
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    frame: Callable[[Mapping[str, Value]], str] | None = None


_registry: dict[str, Element] = {}

# Every element may carry an id, so that prose can link to it.
_ID = Attribute(str, default="")


def register(element: Element) -> None:
    """Make `element` available to Markdown. Registering a name twice replaces it (Django may reload)."""
    _registry[element.name] = element


def registered() -> tuple[Element, ...]:
    """All elements, by name."""
    return tuple(_registry[name] for name in sorted(_registry))


def parse(info: str) -> tuple[Element, dict[str, Value]]:
    """Read what follows `:::`, for example `pb-ring-allreduce id=ring n=4`. Raises ElementError."""
    try:
        words = shlex.split(info)
    except ValueError as error:
        raise ElementError(f"cannot read the container's attributes: {error}") from None
    if not words:
        raise ElementError("a container needs a name after `:::`")
    element = _registry.get(words[0])
    if element is None:
        known = ", ".join(sorted(_registry)) or "none"
        raise ElementError(f"unknown container {words[0]!r}; known: {known}")
    declared = {"id": _ID, **element.attributes}
    values: dict[str, Value] = {}
    for word in words[1:]:
        name, equals, text = word.partition("=")
        if not equals:
            raise ElementError(f"{element.name}: write attributes as name=value, not {word!r}")
        if name not in declared:
            raise ElementError(f"{element.name} has no attribute {name!r}; it has {', '.join(sorted(declared))}")
        if name in values:
            raise ElementError(f"{element.name}: {name} is given twice")
        try:
            values[name] = declared[name].read(name, text)
        except ElementError as error:
            raise ElementError(f"{element.name}: {error}") from None
    for name, attribute in declared.items():
        if name not in values:
            if attribute.default is None:
                raise ElementError(f"{element.name} needs {name}=…")
            values[name] = attribute.default
    if values["id"] and not _NAME.fullmatch(str(values["id"])):
        raise ElementError(f"{element.name}: id={values['id']!r} may hold only a-z, 0-9 and -")
    return element, values
