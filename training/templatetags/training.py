"""How the lab writes its numbers."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django import template

from training.forms import RunForm

register = template.Library()

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
BYTES = {"float32": 4, "float64": 8}


@register.filter
def scientific(value: float) -> str:
    """9.0e-07 as 9.0 × 10⁻⁷; zero stays 0."""
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa} × 10{str(int(exponent)).translate(RAISED)}"


@register.filter
def grouped(value: float) -> str:
    """446464 as 446,464."""
    return f"{round(value):,}"


@register.filter
def bytes_a_number(dtype: str) -> int:
    """Bytes of one number of a dtype."""
    return BYTES[dtype]


@register.filter
def times_bytes(count: int, dtype: str) -> int:
    """Bytes of `count` numbers of a dtype."""
    return count * BYTES[dtype]


@register.filter
def form_query(config: dict[str, Any]) -> str:
    """The query string that fills the lab's form with the settings of a run."""
    return urlencode({name: config[name] for name in RunForm.base_fields if name in config})
