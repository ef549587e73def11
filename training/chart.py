"""Geometry of the run page's two pictures, for readers without JavaScript and for the first frame.

The twin of `platform/frontend/cores/run-chart.ts`; both are tested on tests/vectors/run-chart.json. Lengths are in SVG
user units (CSS pixels at full width).
"""

from __future__ import annotations

import math
from typing import Any

LEFT, RIGHT, TOP, BOTTOM = 44.0, 68.0, 12.0, 44.0  # the names of the baselines stand on the right
TWIN_DOTS = 16
LANE_LEFT, LANE_RIGHT = 56.0, 12.0
COMPUTE_HEIGHT, COMM_HEIGHT, LANE_GAP, COMM_ROWS = 24.0, 7.0, 14.0, 4
LETTER = 7.5  # a cautious width of a 14 px letter


def tenth(value: float) -> float:
    """Rounded half up to a tenth, as the TypeScript twin rounds (Python's round would go to even)."""
    return math.floor(value * 10 + 0.5) / 10


def text(value: float) -> str:
    """A coordinate as JavaScript would write it: 12 and not 12.0."""
    return f"{tenth(value):g}"


def nice_step(span: float, most: int) -> float:
    """The smallest of 1, 2, 5 times a power of ten that cuts `span` into at most `most` parts."""
    if span <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(span / most))
    return next(power * factor for factor in (1, 2, 5, 10, 20) if span / (power * factor) <= most + 1e-9)


def decimals(step: float) -> int:
    """Digits after the point that labels `step` apart need."""
    return max(0, -math.floor(math.log10(step) + 1e-9))


def loss_chart(
    points: list[list[float]],
    twin: list[list[float]],
    baselines: dict[str, float],
    steps: int,
    width: float = 720.0,
    height: float = 320.0,
) -> dict[str, Any]:
    """Axes, curve and baselines of the loss over the steps 0 … steps-1; `points` and `twin` are [[step, loss], …].

    The twin is drawn as some dots: on the curve of a run that agrees with it, a second line could not be seen.
    """
    values = [loss for _, loss in [*points, *twin]] + list(baselines.values())
    low, high = (min(values), max(values)) if values else (0.0, 5.0)
    gap = nice_step(max(high - low, 0.1), 5)
    first = math.floor(low / gap)
    last = max(first + 1, math.ceil(high / gap))
    right, bottom = width - RIGHT, height - BOTTOM
    end = max(1, steps - 1)

    def x(step: float) -> float:
        return LEFT + step / end * (right - LEFT)

    def y(loss: float) -> float:
        return bottom - (loss - first * gap) / ((last - first) * gap) * (bottom - TOP)

    def path(of: list[list[float]]) -> str:
        return " ".join(f"{'L' if i else 'M'}{text(x(step))} {text(y(loss))}" for i, (step, loss) in enumerate(of))

    def dot(of: list[float]) -> dict[str, float]:
        return {"x": tenth(x(of[0])), "y": tenth(y(of[1]))}

    every = max(1, int(nice_step(end, max(2, math.floor(width / 110)))))
    return {
        "width": width,
        "height": height,
        "left": LEFT,
        "right": right,
        "bottom": bottom,
        "x_ticks": [{"at": tenth(x(step)), "label": str(step)} for step in range(0, end + 1, every)],
        "y_ticks": [{"at": tenth(y(i * gap)), "label": f"{i * gap:.{decimals(gap)}f}"} for i in range(first, last + 1)],
        "baselines": [{"at": tenth(y(value)), "name": name} for name, value in baselines.items()],
        "line": path(points),
        "twin": [dot(of) for of in twin[:: math.ceil(len(twin) / TWIN_DOTS) or 1]],
        "head": dot(points[-1]) if points else None,
    }


def lanes(timeline: dict[str, Any], width: float = 720.0) -> dict[str, Any]:
    """One step as bars: for each rank a row of computation, and below it thin rows of buckets on their way.

    Buckets that overlap in time lie in different rows, so that none hides another (up to COMM_ROWS of them).
    """
    span = max(float(timeline["ms"]), 0.001)
    right = width - LANE_RIGHT
    lane_height = COMPUTE_HEIGHT + COMM_ROWS * COMM_HEIGHT + LANE_GAP

    def x(ms: float) -> float:
        return LANE_LEFT + ms / span * (right - LANE_LEFT)

    bars: list[dict[str, Any]] = []
    labels: list[dict[str, Any]] = []
    for rank, spans in enumerate(timeline["lanes"]):
        top = TOP + rank * lane_height
        labels.append({"at": tenth(top + 17), "name": f"rank {rank}"})
        row_ends = [0.0] * COMM_ROWS
        for name, start, end, bucket, size in spans:
            left, wide = tenth(x(start)), max(1.0, tenth(x(end) - x(start)))
            if bucket < 0:
                bars.append(
                    {
                        "kind": "idle" if name == "wait" else "compute",
                        "x": left,
                        "y": tenth(top),
                        "width": wide,
                        "height": COMPUTE_HEIGHT,
                        "label": name if wide > len(name) * LETTER + 8 else "",
                        "title": f"rank {rank}: {name}, {end - start:.2f} ms",
                    }
                )
                continue
            row = next((i for i, free_at in enumerate(row_ends) if free_at <= start), COMM_ROWS - 1)
            row_ends[row] = end
            bars.append(
                {
                    "kind": "communication",
                    "x": left,
                    "y": tenth(top + COMPUTE_HEIGHT + 2 + row * COMM_HEIGHT),
                    "width": wide,
                    "height": COMM_HEIGHT - 1,
                    "label": "",
                    "title": f"rank {rank}: all-reduce of bucket {bucket}, {size} bytes, {end - start:.2f} ms",
                }
            )
    bottom = TOP + len(timeline["lanes"]) * lane_height
    gap = nice_step(span, max(2, math.floor(width / 120)))
    return {
        "width": width,
        "height": bottom + 36,
        "left": LANE_LEFT,
        "right": right,
        "bottom": bottom,
        "labels": labels,
        "bars": bars,
        "ticks": [
            {"at": tenth(x(i * gap)), "label": f"{i * gap:.{decimals(gap)}f}"}
            for i in range(math.floor(span / gap) + 1)
        ],
    }


def sentence(points: list[list[float]], steps: int) -> str:
    """What the loss curve shows, in words: its text alternative."""
    if not points:
        return "No step is done yet."
    first, last = points[0], points[-1]
    change = "fell" if last[1] < first[1] else "rose"
    return (
        f"After {int(last[0]) + 1} of {steps} steps the loss {change} from {first[1]:.3f} to {last[1]:.3f} "
        "nats per character."
    )
