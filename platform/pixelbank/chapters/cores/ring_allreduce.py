"""Ring all-reduce, chunk by chunk: the twin of `frontend/cores/ring-allreduce.ts`.

N devices stand in a ring and each holds a buffer of the same length, cut into N chunks. In each step every device
sends one chunk to its right-hand neighbour, all at the same time. In the first N-1 steps (reduce-scatter) the
receiver adds what arrives to its own chunk; afterwards each device holds one finished chunk. In the next N-1 steps
(all-gather) the finished chunks travel once around and the receiver overwrites.
Source: Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, 2009.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

BYTES_PER_VALUE = 4
"""float32."""

EXAMPLE_VALUES = 240
"""Length of each device's buffer in the figure: the same for every number of devices, so that bytes compare."""


@dataclass(frozen=True)
class Transfer:
    """One chunk on its way from `sender` to `receiver`; `adds` tells reduce-scatter from all-gather."""

    sender: int
    receiver: int
    chunk: int
    values: tuple[float, ...]
    adds: bool


@dataclass(frozen=True)
class Frame:
    """The state after `step` steps. Frame 0 is the start and has no transfers.

    buffers: per device, its values. parts: per device and chunk, how many devices' values are summed in it.
    sent: per device, how many values it has sent so far.
    """

    step: int
    phase: str
    buffers: tuple[tuple[float, ...], ...]
    parts: tuple[tuple[int, ...], ...]
    sent: tuple[int, ...]
    transfers: tuple[Transfer, ...]


def chunk_bounds(values: int, devices: int) -> list[int]:
    """Where the chunks begin and end: devices + 1 offsets; the first `values % devices` chunks are one longer."""
    small, longer = divmod(values, devices)
    return [chunk * small + min(chunk, longer) for chunk in range(devices + 1)]


def ring_allreduce(buffers: Sequence[Sequence[float]]) -> list[Frame]:
    """All 2(N-1)+1 frames. `buffers` has one row per device, N >= 2, all of one length.

    Raises ValueError for fewer than two devices or rows of different length.
    """
    n = len(buffers)
    if n < 2:
        raise ValueError("a ring needs at least two devices")
    if len({len(row) for row in buffers}) != 1:
        raise ValueError("every device must hold a buffer of the same length")
    spans = [slice(a, b) for a, b in pairwise(chunk_bounds(len(buffers[0]), n))]
    now = [list(row) for row in buffers]
    parts = [[1] * n for _ in range(n)]
    sent = [0] * n
    frames = [_frame(0, "start", now, parts, sent, ())]
    for step in range(2 * (n - 1)):
        adds = step < n - 1
        # In all-gather, device d starts from chunk d+1, the one that it finished in reduce-scatter.
        first = 0 if adds else 1
        turn = step if adds else step - (n - 1)
        transfers = tuple(
            Transfer(d, (d + 1) % n, chunk, tuple(now[d][spans[chunk]]), adds)
            for d in range(n)
            for chunk in [(d + first - turn) % n]
        )
        counts = {t.sender: parts[t.sender][t.chunk] for t in transfers}
        for t in transfers:
            mine = now[t.receiver][spans[t.chunk]]
            arrived = [a + b for a, b in zip(mine, t.values, strict=True)] if adds else list(t.values)
            now[t.receiver][spans[t.chunk]] = arrived
            parts[t.receiver][t.chunk] = counts[t.sender] + (parts[t.receiver][t.chunk] if adds else 0)
            sent[t.sender] += len(t.values)
        frames.append(_frame(step + 1, "reduce-scatter" if adds else "all-gather", now, parts, sent, transfers))
    return frames


def _frame(
    step: int,
    phase: str,
    buffers: list[list[float]],
    parts: list[list[int]],
    sent: list[int],
    transfers: tuple[Transfer, ...],
) -> Frame:
    rows = tuple(tuple(row) for row in buffers)
    return Frame(step, phase, rows, tuple(tuple(row) for row in parts), tuple(sent), transfers)


def example_gradients(devices: int) -> list[list[float]]:
    """Small whole numbers, different on every device: easy to add up in one's head. EXAMPLE_VALUES a device."""

    def value(d: int, i: int) -> float:
        return float((3 * d * d + 5 * i * i + 7 * d * i + 2 * d) % 19 - 9)

    return [[value(d, i) for i in range(EXAMPLE_VALUES)] for d in range(devices)]


def bytes_per_device(devices: int, buffer_bytes: float) -> float:
    """What each device sends when the chunks are equal: 2(N-1)/N times the buffer."""
    return 2 * (devices - 1) / devices * buffer_bytes


def describe(frames: Sequence[Frame], step: int) -> str:
    """One sentence that says what happened in this step."""
    n = len(frames[0].buffers)
    total = 2 * (n - 1)
    frame = frames[step]
    if step == 0:
        return f"Start: {n} devices, each with its own gradients in {n} chunks. Nothing has been sent."
    seen = frame.transfers[0]
    done = sum(count == n for row in frame.parts for count in row)
    if frame.phase == "reduce-scatter":
        what = f"each device sends one chunk to the next, which adds it: device {seen.receiver} now has"
        return (
            f"Step {step} of {total}, reduce-scatter: {what} {frame.parts[seen.receiver][seen.chunk]} of {n} "
            f"contributions in chunk {seen.chunk}."
        )
    return (
        f"Step {step} of {total}, all-gather: finished chunks are passed on and copied; "
        f"{done} of {n * n} chunks are complete."
    )
