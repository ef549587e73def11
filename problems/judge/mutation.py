"""Small changes to a right program, one at a time: each should be noticed by the cases.

A change that no case notices shows a weak spot of the cases, or it changes nothing that matters. The latter are
waived by name, with a reason, in ``pixelbank/waivers.yaml``; a changed program gets new names, so that no waiver
outlives its program.
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

_SWAPS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
}
_COMPARES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed program. ``id`` is a hash of the program's name and the changed source; ``line`` that of the
    original.
    """

    id: str
    line: int
    change: str
    source: str


def mutants(name: str, source: str) -> list[Mutant]:
    """All single changes of a program that yield a different program, in the order of its lines."""
    tree = ast.parse(source)
    original = ast.unparse(tree)
    found: dict[str, Mutant] = {}
    for index, node in enumerate(ast.walk(tree)):
        for change, changed in _changes(node):
            mutated = copy.deepcopy(tree)
            target = list(ast.walk(mutated))[index]
            changed(target)
            text = ast.unparse(ast.fix_missing_locations(mutated))
            if text != original and text not in found:
                key = hashlib.sha256(f"{name}\0{text}".encode()).hexdigest()[:12]
                found[text] = Mutant(key, getattr(node, "lineno", 0), change, text + "\n")
    return sorted(found.values(), key=lambda mutant: (mutant.line, mutant.id))


def _changes(node: ast.AST) -> Iterator[tuple[str, _Change]]:
    """(description, function that changes a node like this one in place)."""
    if isinstance(node, ast.BinOp):
        swap = _SWAPS.get(type(node.op))
        if swap is not None:
            yield f"{type(node.op).__name__} becomes {swap.__name__}", _Set("op", swap())
        yield "the right operand is dropped", _Keep("left")
        yield "the left operand is dropped", _Keep("right")
    elif isinstance(node, ast.AugAssign) and type(node.op) in _SWAPS:
        other = _SWAPS[type(node.op)]
        yield f"{type(node.op).__name__}= becomes {other.__name__}=", _Set("op", other())
    elif isinstance(node, ast.UnaryOp):
        yield f"{type(node.op).__name__} is dropped", _Keep("operand")
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in _COMPARES:
        flipped = _COMPARES[type(node.ops[0])]
        yield f"{type(node.ops[0]).__name__} becomes {flipped.__name__}", _Set("ops", [flipped(), *node.ops[1:]])
    elif isinstance(node, ast.IfExp):
        yield "the condition is taken as true", _Keep("body")
        yield "the condition is taken as false", _Keep("orelse")
    elif isinstance(node, ast.Constant):
        for value in _numbers(node.value):
            yield f"{node.value!r} becomes {value!r}", _Set("value", value)
    elif isinstance(node, ast.Name) and node.id == "float" and isinstance(node.ctx, ast.Load):
        yield "float becomes int", _Set("id", "int")
    elif isinstance(node, ast.Attribute) and node.attr in ("float64", "copy", "array"):
        other_name = {"float64": "float32", "copy": "view", "array": "asarray"}[node.attr]
        yield f"{node.attr} becomes {other_name}", _Set("attr", other_name)
    yield from _statements(node)


def _numbers(value: object) -> list[int | float]:
    """Other numbers in the place of a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return []
    others: list[int | float] = [value + 1, value * 2 if isinstance(value, int) else value * 1e4, 0]
    return [other for other in others if other != value]


def _statements(node: ast.AST) -> Iterator[tuple[str, _Change]]:
    """Delete one statement of a body; a body never gets empty."""
    for field in ("body", "orelse"):
        body = getattr(node, field, None)
        if not isinstance(body, list) or isinstance(node, ast.Module):
            continue
        for position, statement in enumerate(body):
            if isinstance(statement, ast.Assign | ast.AugAssign | ast.Expr | ast.For | ast.While | ast.If | ast.Return):
                yield f"line {statement.lineno} is deleted", _Delete(field, position)


class _Change:
    """Changes a node in place."""

    def __call__(self, node: ast.AST) -> None:
        raise NotImplementedError


@dataclass(frozen=True)
class _Set(_Change):
    field: str
    value: object

    def __call__(self, node: ast.AST) -> None:
        setattr(node, self.field, copy.deepcopy(self.value))


@dataclass(frozen=True)
class _Keep(_Change):
    """Put one part of an expression in the place of the whole: the node takes over the part's class and fields."""

    field: str

    def __call__(self, node: ast.AST) -> None:
        part = getattr(node, self.field)
        node.__class__ = type(part)
        node.__dict__ = part.__dict__


@dataclass(frozen=True)
class _Delete(_Change):
    field: str
    position: int

    def __call__(self, node: ast.AST) -> None:
        body = getattr(node, self.field)
        body[self.position] = ast.Pass()
