"""One technique a file, each read top to bottom. A strategy module offers

* `NEEDS_GROUP`: whether its ranks talk to each other (then `torch.distributed` is set up before it starts);
* `train(run) -> model`: what one rank does.

A new technique is a new file here and a new line in `training.engine.config.STRATEGIES`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from torch import nn

    from training.engine.rank import RankRun


class Strategy(Protocol):
    """What a module in this folder looks like."""

    NEEDS_GROUP: bool

    def train(self, run: RankRun) -> nn.Module:
        """Train on this rank and return its model."""
        ...


def load(name: str) -> Strategy:
    """The module of a strategy; `name` comes from a validated config."""
    return cast(Strategy, importlib.import_module(f"{__name__}.{name}"))
