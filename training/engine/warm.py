"""Get everything slow out of the way before the first fork: imports, the text, lazily loaded parts of torch."""

from __future__ import annotations

import gc
import importlib
from pathlib import Path

import torch

from training.engine.config import STRATEGIES
from training.engine.data import baselines, corpus


def warm_up() -> None:
    """Prepare this process for forking ranks. Nothing here may start a thread or touch CUDA."""
    torch.set_num_threads(1)  # ranks are the parallelism; one thread each also makes sums reproducible
    importlib.import_module("torch._dynamo")  # optimizers import it on first use, which takes seconds
    torch.optim.AdamW([torch.nn.Parameter(torch.zeros(1))])
    for strategy in STRATEGIES:
        importlib.import_module(f"training.engine.strategies.{strategy}")
    corpus()
    baselines()
    gc.collect()
    gc.freeze()  # the collector would otherwise write to pages that the ranks share with this process


def threads() -> int:
    """Threads of this process, as the kernel counts them."""
    return len(list(Path("/proc/self/task").iterdir()))
