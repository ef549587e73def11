"""The algorithms behind the figures, against what they must do whatever the numbers."""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pixelbank.chapters.cores import difference_error as diff
from pixelbank.chapters.cores import quantities
from pixelbank.chapters.cores import ring_allreduce as ring
from pixelbank.chapters.figures import difference_error as diff_figure
from pixelbank.chapters.figures import ring_allreduce as ring_figure
from pixelbank.chapters.figures.difference_error import best_sentence
from pixelbank.chapters.figures.table import data_table, number_columns
from pixelbank.core.scene import Scene, line, num, to_svg
from tests.conftest import ROOT
from tests.vectors import make_chapters

CONTENT = ROOT / "platform/pixelbank/chapters/content/pretraining"
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
    central, forward = diff.best(curve, "central"), diff.best(curve, "forward")
    assert central.low < sys.float_info.epsilon ** (1 / 3) < central.high
    assert forward.low < sys.float_info.epsilon ** (1 / 2) < forward.high


def test_the_best_steps_are_judged_by_their_largest_error_and_not_by_a_lucky_one():
    curve = diff.error_curve("cube", 1.5)
    region = diff.best(curve, "central")
    inside = [e.central_error for e in curve if region.low <= e.h <= region.high]
    assert (region.low, region.middle, region.high) == (2e-6, 5e-6, 1e-5)
    assert region.error == max(inside) == pytest.approx(1.66e-10, rel=0.01)
    assert diff.estimate("cube", 1.5, 1.5e-6).central_error < min(inside)  # luck, outside the region
    assert best_sentence("cube", 1.5) == (
        "Best steps here: forward h = 5e−9 to 2e−8 (largest error 1.1e−7), "
        "central h = 2e−6 to 1e−5 (largest error 1.7e−10). A single step can be better by luck."
    )


def test_where_no_error_is_finite_there_is_no_best_step():
    assert best_sentence("root", 0.0) == "Best steps here: forward none, central none."


@pytest.mark.parametrize("h", [h for h in diff.STEPS if 1e-11 < h < 0.1])
def test_the_stated_error_of_the_central_difference_holds_at_every_step(h):
    # x * x * x rounds twice, so |f| counts once more than the formula's single rounding.
    limit = h * h + quantities.rounding_limit("cube", 1.5, h) + sys.float_info.epsilon / (2 * h) * 1.5**3
    assert diff.estimate("cube", 1.5, h).central_error <= limit * 1.01


def test_the_rounding_of_the_points_is_part_of_the_error():
    without = 1e-16 + sys.float_info.epsilon / 2e-8 * 1.5**3
    assert without < diff.estimate("cube", 1.5, 1e-8).central_error < quantities.rounding_limit("cube", 1.5, 1e-8)
    assert quantities.real_distance_off("cube", 1.5, 1e-7) < diff.estimate("cube", 1.5, 1e-7).central_error / 5


def test_the_worked_example_fits_its_device():
    facts = yaml.safe_load((ROOT / "platform/pixelbank/chapters/facts.yml").read_text(encoding="utf-8"))
    room = facts["dp-h100-memory"]["quoted"] * 1e9
    params = {name: fact["with"]["params"] for name, fact in facts.items() if name.startswith("dp-3b-")}
    assert {quantities.state_bytes(p) for p in params.values()} == {48e9}
    assert 48e9 < room < quantities.state_bytes(8e9)


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


def test_the_wrong_gradient_of_the_quiz_is_what_the_named_bug_gives():
    source = (CONTENT / "gradients-checked-numerically.md").read_text(encoding="utf-8")
    head = yaml.safe_load(source.split("---")[1])
    ask = next(question["ask"] for question in head["quiz"] if question["id"] == "grad-check")
    exact, measured = (float(number) for number in re.findall(r"gives (\d\.\d+)", ask))
    h = 1e-5
    slope_over_h = ((exact * (1 + h)) - (exact * (1 - h))) / h  # of f(x) = exact * x, divided by h instead of 2h
    assert measured == pytest.approx(slope_over_h, rel=1e-9)


def test_headings_of_a_table_stand_where_their_cells_do():
    ring_table = data_table(
        "c", ring_figure.TABLE_HEAD, ring_figure.table_rows(ring.ring_allreduce(ring.example_gradients(4)))
    )
    assert '<th scope="col">Device 0 sends</th>' in ring_table
    assert "<td>chunk 0 to device 1</td>" in ring_table
    assert '<th scope="col" class="number">Complete chunks</th>' in ring_table
    assert '<td class="number">16</td>' in ring_table
    odd = diff_figure.table_rows(diff.error_curve("root", 0.0) + diff.error_curve("cube", 1.5))
    assert number_columns(odd) == [True] * 5
