"""The geometry of the run page's pictures, on the vectors that the TypeScript twin is tested on too."""

from __future__ import annotations

import json
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.environment import ROOT
from training import chart

VECTORS = json.loads((ROOT / "tests" / "vectors" / "run-chart.json").read_text())


@pytest.mark.parametrize("case", VECTORS["loss_chart"], ids=lambda case: case["name"])
def test_loss_chart(case: dict[str, object]) -> None:
    assert chart.loss_chart(*case["given"]) == case["drawn"]  # type: ignore[misc]


@pytest.mark.parametrize("case", VECTORS["lanes"], ids=lambda case: case["name"])
def test_lanes(case: dict[str, object]) -> None:
    assert chart.lanes(*case["given"]) == case["drawn"]  # type: ignore[misc]


@pytest.mark.parametrize("case", VECTORS["sentence"], ids=lambda case: case["said"])
def test_sentence(case: dict[str, object]) -> None:
    assert chart.sentence(*case["given"]) == case["said"]  # type: ignore[misc]


@given(st.lists(st.floats(0.01, 50.0), min_size=1, max_size=60), st.integers(60, 300))
def test_every_point_lies_inside_the_axes(losses: list[float], steps: int) -> None:
    drawn = chart.loss_chart([[step, loss] for step, loss in enumerate(losses)], [], {"uniform": 4.2}, steps)
    numbers = [float(number) for number in re.findall(r"[\d.]+", drawn["line"])]
    xs, ys = numbers[::2], numbers[1::2]
    assert len(xs) == len(losses)
    assert all(drawn["left"] <= x <= drawn["right"] + 0.05 for x in xs)
    assert all(chart.TOP - 0.05 <= y <= drawn["bottom"] + 0.05 for y in ys)
    assert xs == sorted(xs)
    order = sorted(range(len(losses)), key=losses.__getitem__)
    assert [ys[i] for i in order] == sorted(ys, reverse=True)
    assert len(drawn["y_ticks"]) <= 8


@given(st.floats(1e-6, 1e6), st.integers(1, 20))
def test_a_nice_step_is_a_round_number_that_is_not_too_small(span: float, most: int) -> None:
    step = chart.nice_step(span, most)
    assert span / step <= most + 1e-6
    mantissa = step / 10 ** math.floor(math.log10(step) + 1e-9)
    assert min(abs(mantissa - round_one) for round_one in (1, 2, 5)) < 1e-6
