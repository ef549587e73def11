"""A GPT small enough to train on a laptop's CPU and complete enough to be honest: embeddings, pre-norm attention and
MLP blocks, a final norm and a head that is not tied to the embedding. No dropout, so a run has no hidden randomness."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.engine.config import ModelSize


class Attention(nn.Module):
    """Causal self-attention. In and out: (batch, time, width)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.head_width = width // heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Mix each position with the positions before it."""
        batch, time, _ = x.shape
        # -1 heads, so that a rank of a tensor-parallel run may hold only some of them
        q, k, v = (
            layer(x).view(batch, time, -1, self.head_width).transpose(1, 2)
            for layer in (self.query, self.key, self.value)
        )
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        out: Tensor = self.out(mixed.transpose(1, 2).reshape(batch, time, -1))
        return out


class Block(nn.Module):
    """One transformer layer: x + attention(norm(x)), then x + mlp(norm(x)). In and out: (batch, time, width)."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layer."""
        x = x + self.attention(self.norm1(x))
        x = x + self.down(functional.gelu(self.up(self.norm2(x))))
        return x


class GPT(nn.Module):
    """Characters in, logits of the next character out: (batch, time) integers -> (batch, time, vocabulary)."""

    def __init__(self, size: ModelSize, vocabulary: int) -> None:
        super().__init__()
        self.context = size.context
        self.token = nn.Embedding(vocabulary, size.width)
        self.position = nn.Embedding(size.context, size.width)
        self.blocks = nn.ModuleList(Block(size.width, size.heads) for _ in range(size.layers))
        self.norm = nn.LayerNorm(size.width)
        self.head = nn.Linear(size.width, vocabulary, bias=False)
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=0.02)

    def forward(self, ids: Tensor) -> Tensor:
        """Logits for every position."""
        places = torch.arange(ids.shape[1], device=ids.device)
        x = self.token(ids) + self.position(places)
        for block in self.blocks:
            x = block(x)
        logits: Tensor = self.head(self.norm(x))
        return logits


def build_model(size: ModelSize, vocabulary: int, seed: int, dtype: str) -> GPT:
    """The model with its starting weights, a pure function of the arguments (drawn in float32, then converted)."""
    torch.manual_seed(seed)
    return GPT(size, vocabulary).to(getattr(torch, dtype))


def loss_of(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy in nats per character; logits (batch, time, vocabulary), targets (batch, time)."""
    return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


def count_parameters(model: nn.Module) -> int:
    """Number of trained numbers in the model."""
    return sum(parameter.numel() for parameter in model.parameters())
