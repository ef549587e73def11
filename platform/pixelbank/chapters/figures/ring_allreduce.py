"""What the ring all-reduce figure shows at one step: a row for each device, a column for each chunk."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from pixelbank.chapters.cores.ring_allreduce import (
    BYTES_PER_VALUE,
    EXAMPLE_VALUES,
    Frame,
    bytes_per_device,
    chunk_bounds,
    describe,
    example_gradients,
    ring_allreduce,
)
from pixelbank.chapters.figures.table import data_table
from pixelbank.core.elements import Value
from pixelbank.core.scene import Scene, num, to_svg

LEFT, RIGHT, TOP, GAP = 118, 76, 30, 6


def scene(frame: Frame) -> Scene:
    """Buffers as cells, each with its chunk's first value; a chunk that just arrived has an orange frame.

    Arrows in the margin say who sends to whom.
    """
    n = len(frame.buffers)
    bounds = chunk_bounds(len(frame.buffers[0]), n)
    cell = 56 if n <= 6 else 48 if n <= 10 else 41
    row = 46 if n <= 8 else 36
    drawing = Scene(LEFT + n * cell + RIGHT, TOP + n * row + 24)
    for chunk in range(n):
        drawing.text(LEFT + (chunk + 0.5) * cell, TOP - 12, str(chunk), "label-soft small")
    drawing.text(LEFT - 34, TOP - 12, "chunk", "label-soft small", "end")
    drawing.text(LEFT + n * cell + RIGHT - 2, TOP - 12, "bytes sent", "label-soft small", "end")
    arriving = {(t.receiver, t.chunk) for t in frame.transfers}
    for device in range(n):
        top = TOP + device * row
        middle = top + (row - GAP) / 2
        drawing.text(LEFT - 34, middle + 5, f"{'device' if n <= 10 else 'dev.'} {device}", "label", "end")
        drawing.text(
            LEFT + n * cell + RIGHT - 2, middle + 5, f"{frame.sent[device] * BYTES_PER_VALUE} B", "communication", "end"
        )
        for chunk in range(n):
            left = LEFT + chunk * cell
            parts = frame.parts[device][chunk]
            complete = parts == n
            width, height = cell - GAP, row - GAP
            drawing.rect(left + GAP / 2, top, width, height, "cell-back")
            drawing.rect(left + GAP / 2, top, width, height, "gradients", 0.12 + 0.5 * (parts - 1) / (n - 1))
            if (device, chunk) in arriving:
                drawing.rect(left + GAP / 2 + 1.5, top + 1.5, width - 3, height - 3, "arrived line communication")
            value = num(frame.buffers[device][bounds[chunk]]).replace("-", "−")
            drawing.text(left + cell / 2, middle + (1 if row > 40 else 5), value, "value done" if complete else "value")
            if row > 40:
                label = f"✓ {parts}/{n}" if complete else f"{parts}/{n}"
                drawing.text(left + cell / 2, middle + 15, label, "tiny")
            elif complete:
                drawing.path(f"M{num(left + GAP / 2 + 3)} {num(top + 3)}h7l-7 7z", "mark done")
    if frame.transfers:
        _arrows(drawing, n, row)
    return drawing


def _arrows(drawing: Scene, n: int, row: float) -> None:
    """Who sends to whom, in the margin: each device to the next, the last back to the first."""
    for device in range(n - 1):
        y = TOP + device * row + (row - GAP) / 2
        drawing.path(f"M{num(LEFT - 28)} {num(y)}q14 {num(row / 2)} 0 {num(row - 3)}", "line communication thin")
        drawing.path(f"M{num(LEFT - 29)} {num(y + row)}l3 -8l6 5z", "communication")
    top = TOP + (row - GAP) / 2
    bottom = TOP + (n - 1) * row + (row - GAP) / 2
    drawing.path(f"M{num(LEFT - 98)} {num(bottom)}H8V{num(top)}H{num(LEFT - 104)}", "line communication thin")
    drawing.path(f"M{num(LEFT - 97)} {num(top)}l-8 -4v8z", "communication")


def table_rows(frames: list[Frame]) -> list[list[str]]:
    """One row a step: phase, what device 0 sends, bytes that each device has sent so far."""
    rows = []
    for frame in frames:
        own = next((t for t in frame.transfers if t.sender == 0), None)
        sends = "nothing" if own is None else f"chunk {own.chunk} to device {own.receiver}"
        complete = sum(count == len(frame.parts) for line in frame.parts for count in line)
        rows.append([str(frame.step), frame.phase, sends, str(frame.sent[0] * BYTES_PER_VALUE), str(complete)])
    return rows


TABLE_HEAD = ["Step", "Phase", "Device 0 sends", "Bytes sent by device 0 so far", "Complete chunks"]


def count_sentence(frames: list[Frame]) -> str:
    """What the simulation counted beside what the formula says."""
    n = len(frames[0].buffers)
    size = EXAMPLE_VALUES * BYTES_PER_VALUE
    counted = frames[-1].sent[0] * BYTES_PER_VALUE
    return (
        f"A buffer of {EXAMPLE_VALUES} values is S = {size} bytes. Counted in the simulation: device 0 sends {counted} "
        f"bytes in all {len(frames) - 1} steps. The formula 2(N − 1)/N · S gives {num(bytes_per_device(n, size))}."
    )


def first_frame(values: Mapping[str, Value]) -> str:
    """The figure without JavaScript: the picture at the first step of the ring, its sentence, all steps as a table."""
    n = int(values["n"])
    frames = ring_allreduce(example_gradients(n))
    sentence = describe(frames, 1)
    size = "small" if n < 4 else "fits" if n <= 6 else "scrolls"
    return (
        f'<div class="picture">{to_svg(scene(frames[1]), sentence, size)}</div>'
        f'<p class="sentence">{escape(sentence)}</p>'
        f'<p class="count">{escape(count_sentence(frames))}</p>'
        + data_table(f"Ring all-reduce with {n} devices, step by step", TABLE_HEAD, table_rows(frames))
    )
