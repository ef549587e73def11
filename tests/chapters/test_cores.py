"""The algorithms behind the figures, against what they must do whatever the numbers."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixelbank.chapters.cores import difference_error as diff
from pixelbank.chapters.cores import ring_allreduce as ring
from pixelbank.core.scene import Scene, line, num, to_svg
from tests.vectors import make_chapters

VECTORS = Path(make_chapters.__file__).parent


@pytest.mark.parametrize("name", make_chapters.FILES)
def test_the_shared_vectors_are_what_the_python_twins_compute(name):
    stored = json.loads((VECTORS / name).read_text(encoding="utf-8"))
    now = json.loads(json.dumps(make_chapters.FILES[name]()))
    # exp, sin and tanh come from the platform's library; everything else is fixed by IEEE 754.
    stored.pop("library", None), now.pop("library", None)
    assert now == stored


buffers = st.integers(2, 9).flatmap(
    lambda n: st.integers(1, 20).flatmap(
        lambda size: st.lists(
            st.lists(st.integers(-1000, 1000).map(float), min_size=size, max_size=size), min_size=n, max_size=n
        )
    )
)


@given(buffers)
def test_every_device_ends_with_the_sum(rows):
    frames = ring.ring_allreduce(rows)
    total = tuple(sum(column) for column in zip(*rows, strict=True))
    assert all(buffer == total for buffer in frames[-1].buffers)
    assert len(frames) == 2 * (len(rows) - 1) + 1


@given(buffers)
def test_counted_traffic_agrees_with_the_formula_on_average(rows):
    n, size = len(rows), len(rows[0])
    sent = ring.ring_allreduce(rows)[-1].sent
    assert sum(sent) / n == pytest.approx(2 * (n - 1) / n * size)
    if size % n == 0:
        assert set(sent) == {2 * (n - 1) * size // n}


@given(buffers)
def test_half_way_each_device_owns_one_finished_chunk(rows):
    n = len(rows)
    half = ring.ring_allreduce(rows)[n - 1]
    finished = [[chunk for chunk in range(n) if half.parts[device][chunk] == n] for device in range(n)]
    assert finished == [[(device + 1) % n] for device in range(n)]


@given(buffers)
def test_a_device_sends_and_receives_one_chunk_a_step(rows):
    for frame in ring.ring_allreduce(rows)[1:]:
        assert sorted(t.sender for t in frame.transfers) == list(range(len(rows)))
        assert all(t.receiver == (t.sender + 1) % len(rows) for t in frame.transfers)


def test_rings_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="at least two devices"):
        ring.ring_allreduce([[1.0]])
    with pytest.raises(ValueError, match="same length"):
        ring.ring_allreduce([[1.0], [1.0, 2.0]])


@pytest.mark.parametrize("h", [0.5, 0.1, 0.01])
def test_the_cube_has_the_errors_that_taylor_says(h):
    e = diff.estimate("cube", 1.5, h)
    assert e.central_error == pytest.approx(h * h, rel=1e-9)
    assert e.forward_error == pytest.approx(3 * 1.5 * h + h * h, rel=1e-9)


@pytest.mark.parametrize("name", diff.FUNCTIONS)
def test_every_derivative_agrees_with_a_central_difference(name):
    x = diff.FUNCTIONS[name].x
    assert diff.estimate(name, x, 1e-4).central == pytest.approx(diff.FUNCTIONS[name].derivative(x), rel=1e-6)


def test_the_best_steps_are_where_theory_puts_them():
    curve = diff.error_curve("exp", 1.0)
    assert 1e-6 < diff.best(curve, "central").h < 3e-5
    assert 1e-9 < diff.best(curve, "forward").h < 1e-7


def test_too_small_a_step_loses_the_answer():
    assert diff.estimate("cube", 1.5, 1e-16).central == 0


def test_values_outside_a_function_are_not_numbers_and_do_not_break_the_drawing():
    e = diff.estimate("root", 0.0, 0.1)
    assert math.isnan(e.central)
    assert diff.number(e.central) == "not a number"
    assert "nan" not in line([(0, 0), (1, math.nan), (2, 2)])


@pytest.mark.parametrize(
    ("value", "text"), [(1.0, "1"), (0.005, "0.01"), (-0.004, "0"), (12.5, "12.5"), (100.0, "100"), (-3.25, "-3.25")]
)
def test_coordinates_are_short(value, text):
    assert num(value) == text


def test_a_drawing_escapes_its_text_and_has_an_alternative():
    scene = Scene(10, 10)
    scene.text(1, 1, "<b>&", "label")
    svg = to_svg(scene, 'say "x" < y')
    assert "&lt;b&gt;&amp;" in svg
    assert 'aria-label="say &quot;x&quot; &lt; y"' in svg
    assert "style=" not in svg
