"""What one rank process does, from its first line to its last.

The rank is forked from a process that has imported torch and done nothing else. It sends JSON lines into a pipe to its
supervisor: `ready`, one `step` per step, then `finished` (or `error`).
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import os
import platform
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from training.engine import parity, strategies
from training.engine.config import RunConfig
from training.engine.data import batch_rows, corpus
from training.engine.devices import Placement
from training.engine.model import GPT, build_model, count_parameters
from training.engine.spans import Spans, now

GROUP_TIMEOUT = datetime.timedelta(seconds=30)


class RunError(Exception):
    """The run cannot go on; the message is a sentence for the learner."""


class RankRun:
    """Everything a strategy needs: its config, its device, its rows of each batch, and where to report."""

    def __init__(self, config: RunConfig, placement: Placement, rank: int, run_dir: Path, pipe: int) -> None:
        self.config = config
        self.rank = rank
        self.run_dir = run_dir
        self.text = corpus()
        self.device = torch.device(f"cuda:{placement.index(rank)}" if placement.device == "cuda" else "cpu")
        self.spans = Spans(self._synchronize)
        self._pipe = pipe

    def _synchronize(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def build_model(self) -> GPT:
        """The model with its starting weights, equal on every rank."""
        config = self.config
        return build_model(config.size, len(self.text.alphabet), config.seed, config.dtype).to(self.device)

    def build_optimizer(self, model: nn.Module) -> torch.optim.Optimizer:
        """The optimizer the config names, over all parameters of the model."""
        if self.config.optimizer == "sgd":
            return torch.optim.SGD(model.parameters(), lr=self.config.rate)
        return torch.optim.AdamW(model.parameters(), lr=self.config.rate, betas=(0.9, 0.95), weight_decay=0.01)

    def batch(self, step: int) -> tuple[Tensor, Tensor]:
        """This rank's rows of the global batch of a step: inputs and targets, each (rows, context)."""
        config = self.config
        rows = config.rows_per_rank
        inputs, targets = batch_rows(
            self.text, config.size.context, config.seed, step, config.batch, first=self.rank * rows, rows=rows
        )
        return inputs.to(self.device), targets.to(self.device)

    def report(self, step: int, loss: Tensor, model: nn.Module) -> None:
        """Send what happened in a step; keep the parameters when the comparison with one process needs them."""
        value = loss.item()
        if not math.isfinite(value):
            raise RunError(f"The loss is {value} in step {step}: the training diverged, so lower the learning rate.")
        self.send("step", step=step, loss=value, spans=self.spans.take(), at=now())
        if self.rank == 0 and step + 1 == min(self.config.steps, self.config.parity_steps):
            parity.save(model, self.run_dir)

    def send(self, kind: str, **data: Any) -> None:
        """One JSON line to the supervisor."""
        line = json.dumps({"kind": kind, "rank": self.rank, **data}).encode() + b"\n"
        while line:
            line = line[os.write(self._pipe, line) :]


def main(run: RankRun, backend: str, store: Path, *, is_twin: bool) -> None:
    """Train and report; the twin also compares its parameters with those that rank 0 of the run saved.

    The caller ends the process afterwards by `os._exit`, without Python's or gloo's teardown: gloo's destructor joins
    a thread that may be waiting for the interpreter lock, so a rank that returns normally can hang for ever.
    """
    config = run.config
    strategy = strategies.load(config.strategy)
    if strategy.NEEDS_GROUP:
        dist.init_process_group(
            backend,
            init_method=store.as_uri(),
            rank=run.rank,
            world_size=config.ranks,
            timeout=GROUP_TIMEOUT,
        )
    run.send("ready", pid=os.getpid(), device=str(run.device), system=platform.system(), at=now())
    model = strategy.train(run)
    run.send(
        "finished",
        at=now(),
        params_sha256=params_sha256(model),
        parameters=count_parameters(model),
        max_dparam=parity.compare(model, run.run_dir) if is_twin else None,
    )
    if strategy.NEEDS_GROUP:
        dist.barrier()


def params_sha256(model: nn.Module) -> str:
    """Hash of all parameters: each name and its little-endian bytes, in the order of the names."""
    digest = hashlib.sha256()
    for name, parameter in sorted(model.named_parameters()):
        digest.update(name.encode())
        digest.update(parameter.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()
