"""The figures and blocks that a chapter's Markdown may use."""

from __future__ import annotations

from pixelbank.chapters.cores.difference_error import FUNCTIONS
from pixelbank.chapters.figures import difference_error, ring_allreduce
from pixelbank.core.elements import Attribute, Element

ELEMENTS = (
    Element(
        "pb-ring-allreduce",
        tag="pb-ring-allreduce",
        css="figure wide",
        attributes={"n": Attribute(int, default=4, low=2, high=16)},
        frame=ring_allreduce.first_frame,
    ),
    Element(
        "pb-difference-error",
        tag="pb-difference-error",
        css="figure wide",
        attributes={
            "f": Attribute(str, default="cube", choices=tuple(FUNCTIONS)),
            "x": Attribute(float, default=1.5, low=-1e6, high=1e6),
            "h": Attribute(float, default=0.5, low=1e-16, high=1),
        },
        frame=difference_error.first_frame,
    ),
    Element("worked", tag="aside", css="notice worked"),
    Element("note", tag="aside", css="notice"),
)
