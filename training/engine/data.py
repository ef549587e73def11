"""The text and the order in which it is read.

The batch of a step is a pure function of (seed, step): it depends on no generator state, no worker and no rank. Ranks
take slices of that one global batch, so any number of ranks reads the same text in the same step, and a run can stop,
shrink and go on without losing its place.
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

CORPUS = Path(__file__).parents[1] / "data" / "shakespeare.txt"


@dataclass(frozen=True)
class Text:
    """A text as character ids: `ids` (length,) uint8, `alphabet` the characters in the order of their ids."""

    ids: Tensor
    alphabet: str

    def decode(self, ids: list[int]) -> str:
        """Ids back to characters."""
        return "".join(self.alphabet[i] for i in ids)


@functools.cache
def corpus() -> Text:
    """The text that ships with the project (see training/data/NOTICE)."""
    raw = CORPUS.read_bytes()
    values = torch.frombuffer(bytearray(raw), dtype=torch.uint8)
    used = torch.unique(values)
    table = torch.zeros(256, dtype=torch.uint8)
    table[used.long()] = torch.arange(len(used), dtype=torch.uint8)
    return Text(table[values.long()], bytes(used.tolist()).decode("ascii"))


def offsets(seed: int, step: int, batch: int, limit: int) -> list[int]:
    """Where the `batch` sequences of a step start, each in [0, limit): a hash of (seed, step, row).

    A hash and not a random generator: the same on every machine, in every version and for every row by itself.
    """
    return [
        int.from_bytes(hashlib.blake2b(f"{seed}/{step}/{row}".encode(), digest_size=8).digest(), "big") % limit
        for row in range(batch)
    ]


def batch_rows(
    text: Text, context: int, seed: int, step: int, batch: int, first: int = 0, rows: int | None = None
) -> tuple[Tensor, Tensor]:
    """Rows first … first+rows of the global batch of a step: inputs and targets, each (rows, context) int64.

    The target of each character is the one that follows it.
    """
    starts = offsets(seed, step, batch, len(text.ids) - context - 1)[first : first + (batch if rows is None else rows)]
    windows = torch.stack([text.ids[start : start + context + 1] for start in starts]).long()
    return windows[:, :-1], windows[:, 1:]


@functools.cache
def baselines() -> dict[str, float]:
    """Losses (nats per character) that need no network: guessing evenly, by letter counts, by counts of pairs."""
    text = corpus()
    size = len(text.alphabet)
    ids = text.ids.long()
    single = torch.bincount(ids, minlength=size).double()
    pairs = torch.bincount(ids[:-1] * size + ids[1:], minlength=size * size).double().view(size, size)
    unigram = -(single / single.sum() * torch.log(single / single.sum())).sum()
    seen = pairs > 0
    given = pairs / pairs.sum(dim=1, keepdim=True).clamp(min=1)
    bigram = -(pairs[seen] / pairs.sum() * torch.log(given[seen])).sum()
    return {
        "uniform": float(torch.log(torch.tensor(float(size)).double())),
        "unigram": float(unigram),
        "bigram": float(bigram),
    }
