"""One process, the whole batch. The reference that every other strategy is compared with."""

from __future__ import annotations

from torch import nn

from training.engine.model import loss_of
from training.engine.rank import RankRun

NEEDS_GROUP = False


def train(run: RankRun) -> nn.Module:
    """Forward, backward, update; nothing else."""
    model = run.build_model()
    optimizer = run.build_optimizer(model)
    for step in range(run.config.steps):
        inputs, targets = run.batch(step)
        with run.spans.span("forward"):
            loss = loss_of(model(inputs), targets)
        with run.spans.span("backward"):
            loss.backward()  # type: ignore[no-untyped-call]
        with run.spans.span("optimizer"):
            optimizer.step()
            optimizer.zero_grad()
        run.report(step, loss, model)
    return model
