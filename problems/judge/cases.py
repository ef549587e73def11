"""What a problem package says about one test: arguments, the right answer, and how closely it must be met."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from problems.judge.jail import wire
from problems.judge.jail.wire import Value


@dataclass(frozen=True, slots=True)
class Remote:
    """A function argument that only the judge can evaluate. ``text`` is its formula, shown for samples only."""

    function: Callable[[Any], Any]
    name: str = "f"
    text: str = ""


@dataclass(frozen=True, slots=True)
class Local:
    """A function argument given as a Python expression by the learner; it is evaluated inside the jail only."""

    source: str


@dataclass(frozen=True, slots=True)
class ReadOnly:
    """An array argument that the learner's function cannot write to."""

    array: Any


@dataclass(frozen=True, slots=True)
class Case:
    """One call of the learner's function.

    ``expected`` is a float64 array, or a float where a number is expected; None: nothing is compared (own input).
    ``note`` names the property that the case tests, in words that give nothing away: learners see it for hidden cases.
    ``atol`` and ``rtol``: ``|got - expected| <= atol + rtol * |expected|`` in each entry.
    ``max_calls`` bounds the calls of the remote function.
    ``shown``: texts of the arguments and of the answer, for samples and feedback cases only.
    """

    name: str
    group: str
    arguments: tuple[Any, ...]
    expected: Any
    note: str = ""
    atol: float = 1e-9
    rtol: float = 1e-9
    max_calls: int | None = None
    shown: tuple[tuple[str, str], ...] = ()


def wire_arguments(case: Case) -> tuple[Value, ...]:
    """The arguments as values; remote functions become a name, their code stays here."""
    values = []
    for argument in case.arguments:
        if isinstance(argument, Remote):
            values.append(Value("remote", text=argument.name))
        elif isinstance(argument, Local):
            values.append(Value("local", text=argument.source))
        elif isinstance(argument, ReadOnly):
            values.append(wire.describe(argument.array)._replace(layout="readonly"))
        else:
            values.append(wire.describe(argument))
    return tuple(values)


class Refused(Exception):
    """A remote function says no; the learner's code sees an error of this built-in kind with this message."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


MISUSED: Final = ("TypeError", "the function takes one argument, a point, and it was called with more")


def evaluate(remote: Remote, point: Value) -> float:
    """The remote function at a point of the learner, always in float64. Raises ``Refused`` where it has no answer."""
    name = remote.name
    if point.kind in ("array", "scalar"):
        if point.dtype in ("<c16", "<c8"):
            raise Refused("TypeError", f"{name} is defined for real numbers, it was called with complex ones")
        x: Any = np.asarray(wire.array_of(point)).astype(np.float64)
        if point.kind == "scalar":
            x = x[()]
    elif point.kind in ("bool", "int", "float"):
        x = float(wire.build(point))
    elif point.kind in ("list", "tuple"):
        try:
            x = np.array(wire.build(point), dtype=np.float64)
        except (ValueError, TypeError, OverflowError, wire.WireError):
            raise Refused("TypeError", f"{name} was called with a list that is not an array of real numbers") from None
    else:
        raise Refused("TypeError", f"{name} takes a number or an array, it was called with {point.text or point.kind}")
    try:
        with np.errstate(all="ignore"):
            answer = np.asarray(remote.function(x), dtype=np.float64)
    except (IndexError, ValueError, TypeError, ZeroDivisionError, OverflowError) as error:
        raise Refused(type(error).__name__, f"{name} cannot be evaluated at a point of shape {point.shape}") from None
    if answer.shape != ():
        raise Refused("ValueError", f"{name} cannot be evaluated at a point of shape {point.shape}")
    return float(answer)
