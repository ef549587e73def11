"""Which device and which communication library the ranks use, decided without touching CUDA.

A CUDA context does not survive fork, so the warm parent must never open one: GPUs are counted by their device files.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import torch

from training.engine.config import ConfigError, RunConfig


@dataclass(frozen=True)
class Placement:
    """`device` is cpu or cuda, `backend` gloo or nccl, `gpus` the GPUs seen, `note` a sentence for the learner."""

    device: str
    backend: str
    gpus: int
    note: str

    def index(self, rank: int) -> int:
        """The GPU of a rank; ranks share GPUs in turn when there are fewer GPUs than ranks."""
        return rank % max(1, self.gpus)


def count_gpus() -> int:
    """GPUs this process may use; 0 with a CPU build of torch."""
    if torch.version.cuda is None:
        return 0
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible is not None:
        return len([name for name in visible.split(",") if name.strip() not in ("", "-1")])
    return len([path for path in Path("/dev").glob("nvidia[0-9]*") if path.name[6:].isdigit()])


def place(config: RunConfig) -> Placement:
    """NCCL when each rank has a GPU of its own, gloo otherwise. Raises ConfigError if cuda is asked for and absent."""
    gpus = 0 if config.device == "cpu" else count_gpus()
    if config.device == "cuda" and not gpus:
        raise ConfigError("device is cuda, but this machine offers no GPU to torch: use --device auto or --device cpu.")
    if not gpus:
        cores = os.cpu_count() or 1
        note = f"All ranks are processes on this machine's CPU ({cores} cores) and talk by gloo."
        if config.ranks > cores:
            note += " There are more ranks than cores, so they take turns."
        return Placement("cpu", "gloo", 0, note)
    if gpus >= config.ranks:
        return Placement("cuda", "nccl", gpus, "Each rank has a GPU of its own and they talk by NCCL.")
    return Placement(
        "cuda", "gloo", gpus, f"{config.ranks} ranks share {gpus} GPU(s); NCCL refuses that, so they talk by gloo."
    )
