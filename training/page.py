"""What the templates of a run need: its stored state with the pictures laid out."""

from __future__ import annotations

from typing import Any

from training import chart, selectors
from training.models import Run

TABLE_ROWS = 12

HEADLINES = {
    Run.State.QUEUED: "Waiting for a free worker",
    Run.State.RUNNING: "Training",
    Run.State.DONE: "Finished",
    Run.State.FAILED: "Failed",
    Run.State.CANCELLED: "Cancelled",
    Run.State.LOST: "Lost",
}


def run_context(run: Run, width: float = 720.0, height: float = 320.0) -> dict[str, Any]:
    """`run`, `state` (the JSON that the element starts from), and what the page without JavaScript shows."""
    state = selectors.snapshot_of(run)
    points, steps = run.points, state["steps"]
    timeline = run.live.get("timeline")
    return {
        "run": run,
        "state": state,
        "headline": HEADLINES[Run.State(run.state)],
        "chart": chart.loss_chart(points, run.twin, run.facts.get("baselines", {}), steps, width, height),
        "lanes": chart.lanes(timeline, width) if timeline else None,
        "timeline": timeline,
        "sentence": chart.sentence(points, steps),
        "rows": _spread(points, run.twin),
        "rank_steps": list(enumerate(run.live.get("ranks") or [0] * state["ranks"])),
        "ahead": selectors.waiting_before(run) if run.state == Run.State.QUEUED else 0,
    }


def _spread(points: list[list[float]], twin: list[list[float]]) -> list[dict[str, Any]]:
    """Some rows of the data table, evenly spread, always with the first and the last step."""
    count = min(TABLE_ROWS, len(points))
    chosen = [points[i * (len(points) - 1) // max(1, count - 1)] for i in range(count)]
    of_twin = {int(step): loss for step, loss in twin}
    return [{"step": int(step), "loss": loss, "twin": of_twin.get(int(step))} for step, loss in chosen]
