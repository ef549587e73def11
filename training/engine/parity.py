"""Does the run compute what one process would? The proof behind every strategy.

After the ranks are done, one more process trains the same model from the same start on the same global batches with
the strategy `single`, for the first `parity_steps` steps. Compared are the loss of each of those steps and every
parameter after the last of them.

The arithmetic is the same, but sums are taken in another order, so the last bits differ. With AdamW a difference of
rounding in a gradient that is almost zero is divided by an almost-zero root, which is why its tolerance is wider than
that of SGD; in float64 the differences shrink by eight orders of magnitude. A learning rate so high that the loss jumps
about makes any two runs drift apart: there the comparison fails, and rightly so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn

from training.engine.config import RunConfig

SAVED = "parameters.pt"


def save(model: nn.Module, run_dir: Path) -> None:
    """Keep the parameters for the comparison. Written beside and renamed, so a reader never sees half a file."""
    part = run_dir / f"{SAVED}.part"
    torch.save({name: value.detach().cpu() for name, value in model.named_parameters()}, part)
    part.rename(run_dir / SAVED)


def tolerance(config: RunConfig) -> float:
    """The largest difference in a parameter or a loss that rounding explains."""
    if config.dtype == "float64":
        return 1e-12
    return 1e-4 if config.optimizer == "adamw" else 1e-5


def compare(model: nn.Module, run_dir: Path) -> float:
    """Largest absolute difference between the model's parameters and the saved ones."""
    saved: dict[str, torch.Tensor] = torch.load(run_dir / SAVED, weights_only=True)
    return max(float((value.detach().cpu() - saved[name]).abs().max()) for name, value in model.named_parameters())


def certificate(config: RunConfig, losses: list[float], twin: list[float], max_dparam: float) -> dict[str, Any]:
    """The figures of the comparison; `losses` and `twin` are the mean losses of the steps that both ran."""
    allowed = tolerance(config)
    max_dloss = max(abs(a - b) for a, b in zip(losses, twin, strict=True))
    return {
        "max_dparam": max_dparam,
        "max_dloss": max_dloss,
        "tolerance": allowed,
        "holds": max_dparam <= allowed and max_dloss <= allowed,
        "steps": len(twin),
        "dtype": config.dtype,
    }
