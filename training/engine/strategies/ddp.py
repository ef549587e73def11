"""Data parallelism with torch's DistributedDataParallel.

Every rank holds the whole model and computes the gradient of its own rows. DDP packs gradients into buckets, in the
order in which the backward pass finishes them, and averages each full bucket over the ranks while the backward pass
goes on. All ranks then take the same step, so the replicas stay equal without ever sending a parameter.

    g = (g_0 + g_1 + ... + g_(N-1)) / N

is the gradient of the mean loss over the whole batch, because every rank has equally many rows.
"""

# No `from __future__ import annotations` here: DDP looks at the hook's annotations and wants the types themselves.
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from training.engine.model import loss_of
from training.engine.rank import RankRun
from training.engine.spans import now

NEEDS_GROUP = True


def train(run: RankRun) -> nn.Module:
    """The loop of `single`, with the model wrapped."""
    model = run.build_model()
    replica = DistributedDataParallel(
        model,
        device_ids=[run.device] if run.device.type == "cuda" else None,
        bucket_cap_mb=run.config.bucket_kb / 1024,
    )
    replica.register_comm_hook(run, average_and_record)
    optimizer = run.build_optimizer(model)
    for step in range(run.config.steps):
        inputs, targets = run.batch(step)
        with run.spans.span("forward"):
            loss = loss_of(replica(inputs), targets)
        with run.spans.span("backward"):  # the buckets travel in here
            loss.backward()  # type: ignore[no-untyped-call]
        run.spans.split("backward", "wait", "all_reduce")  # the last bucket leaves with the last gradient
        with run.spans.span("optimizer"):
            optimizer.step()
            optimizer.zero_grad()
        run.report(step, loss, model)
    return model


def average_and_record(
    run: RankRun,
    bucket: dist.GradBucket,  # type: ignore[name-defined]
) -> torch.futures.Future[torch.Tensor]:
    """Average one bucket over the ranks, as DDP itself would, and record when it travelled and how big it was.

    On a GPU the end is when the host saw the result, not when the last byte arrived.
    """
    gradients = bucket.buffer()
    index, size = bucket.index(), gradients.numel() * gradients.element_size()
    start = now()
    work = dist.all_reduce(gradients.div_(run.config.ranks), async_op=True)

    def arrived(future: torch.futures.Future[list[torch.Tensor]]) -> torch.Tensor:
        run.spans.add("all_reduce", start, now(), bucket=index, bytes=size)
        return future.value()[0]

    averaged: torch.futures.Future[torch.Tensor] = work.get_future().then(arrived)
    return averaged
