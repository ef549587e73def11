"""What a run may be: one frozen dataclass, its bounds, and one clear sentence for each thing that is wrong.

No torch here: the web form, the Celery task and the command line all validate with this file. A run is made of
validated numbers and names only, never of code.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

STRATEGIES: dict[str, str] = {
    "ddp": "Data parallelism: every rank holds the whole model and a share of the batch; gradients are averaged.",
    "single": "One process with the whole batch: the reference for the others.",
}
DEVICES = ("auto", "cpu", "cuda")
DTYPES = ("float32", "float64")
LEARNING_RATES = {"adamw": 3e-3, "sgd": 0.1}  # what is used when none is given


class ConfigError(ValueError):
    """The asked-for run is not possible; the message is one sentence for the person who asked."""


@dataclass(frozen=True)
class ModelSize:
    """Shape of the GPT. `width` is the embedding size, `context` the number of characters seen at once."""

    layers: int
    width: int
    heads: int
    context: int


SIZES: dict[str, ModelSize] = {
    "nano": ModelSize(layers=1, width=32, heads=2, context=32),
    "tiny": ModelSize(layers=2, width=64, heads=4, context=64),
    "small": ModelSize(layers=4, width=128, heads=4, context=64),
}

# name -> (lowest, highest); the highest rank count is for machines with that many GPUs or cores.
BOUNDS: dict[str, tuple[float, float]] = {
    "ranks": (1, 8),
    "steps": (1, 2000),
    "seed": (0, 2**31 - 1),
    "batch": (1, 256),
    "bucket_kb": (1, 25 * 1024),
    "parity_steps": (0, 200),
    "learning_rate": (1e-6, 10.0),
    "deadline_s": (1, 3600),
}


def _written(value: float) -> str:
    """A number as a person writes it: whole ones in full, without an exponent or `.0`."""
    return str(value) if isinstance(value, int) else f"{value:.15g}"


@dataclass(frozen=True)
class RunConfig:
    """One run. `bucket_kb` is in KiB, `deadline_s` in s, `batch` counts the sequences of one step (of all ranks)."""

    strategy: str = "ddp"
    ranks: int = 2
    steps: int = 50
    seed: int = 1
    device: str = "auto"
    model: str = "tiny"
    dtype: str = "float32"
    optimizer: str = "adamw"
    learning_rate: float | None = None
    batch: int = 24
    bucket_kb: int = 100
    parity_steps: int = 50
    deadline_s: float = 600.0

    def __post_init__(self) -> None:
        """Check every field; raises ConfigError with one sentence."""
        choices = {
            "strategy": tuple(STRATEGIES),
            "device": DEVICES,
            "model": tuple(SIZES),
            "dtype": DTYPES,
            "optimizer": tuple(LEARNING_RATES),
        }
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise ConfigError(f"{name} cannot be {getattr(self, name)!r}: choose one of {', '.join(allowed)}.")
        for name, (low, high) in BOUNDS.items():
            value = getattr(self, name)
            if name == "learning_rate" and value is None:
                continue
            kinds = (int, float) if name in ("learning_rate", "deadline_s") else (int,)
            if isinstance(value, bool) or not isinstance(value, kinds):
                raise ConfigError(f"{name} must be a{' whole' if kinds == (int,) else ''} number, not {value!r}.")
            if not low <= value <= high:  # also false for nan
                raise ConfigError(
                    f"{name} is {_written(value)}, but it must lie between {_written(low)} and {_written(high)}."
                )
        if self.strategy == "single" and self.ranks != 1:
            raise ConfigError(f"The strategy single runs in one process: use --ranks 1, not {self.ranks}.")
        if self.batch % self.ranks:
            raise ConfigError(
                f"A batch of {self.batch} sequences cannot be shared equally by {self.ranks} ranks: "
                "choose a batch that is a multiple of the number of ranks."
            )

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> RunConfig:
        """Build a config from untrusted JSON. Raises ConfigError for an unknown name or a bad value."""
        known = {field.name for field in dataclasses.fields(cls)}
        unknown = sorted(set(given) - known)
        if unknown:
            raise ConfigError(
                f"A run has no setting named {unknown[0]!r}: the settings are {', '.join(sorted(known))}."
            )
        return cls(**given)

    def to_json(self) -> dict[str, Any]:
        """The config as plain JSON values; `from_mapping` reads it back unchanged."""
        return dataclasses.asdict(self)

    @property
    def size(self) -> ModelSize:
        """The shape behind the name in `model`."""
        return SIZES[self.model]

    @property
    def rate(self) -> float:
        """The learning rate in use: the given one, or the usual one of the optimizer."""
        return LEARNING_RATES[self.optimizer] if self.learning_rate is None else self.learning_rate

    @property
    def rows_per_rank(self) -> int:
        """Sequences of the global batch that one rank computes in one step."""
        return self.batch // self.ranks

    @property
    def tokens_per_step(self) -> int:
        """Characters predicted in one step by all ranks together."""
        return self.batch * self.size.context

    def reference(self) -> RunConfig:
        """The same training in one process, for as many steps as are compared."""
        return dataclasses.replace(
            self, strategy="single", ranks=1, steps=max(1, min(self.steps, self.parity_steps)), parity_steps=0
        )

    def command(self) -> str:
        """The command line that repeats this run; settings at their default are left out."""
        default = RunConfig()
        parts = [
            f"python -m training.engine {self.strategy}",
            f"--ranks {self.ranks} --steps {self.steps} --seed {self.seed} --device {self.device}",
        ]
        for field in dataclasses.fields(self):
            if field.name not in ("strategy", "ranks", "steps", "seed", "device", "deadline_s"):
                value = getattr(self, field.name)
                if value != getattr(default, field.name):
                    parts.append(f"--{field.name.replace('_', '-')} {value}")
        return " ".join([*parts, "--json"])
