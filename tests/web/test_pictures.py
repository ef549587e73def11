from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest

from pixelbank.web import pictures


def label(svg: str) -> str:
    return ElementTree.fromstring(svg).attrib["aria-label"]


@pytest.mark.parametrize("draw", [pictures.error_against_step, pictures.ring_first_step, pictures.secant_lines])
def test_pictures_are_well_formed_and_have_a_text_alternative(draw: pictures.Picture) -> None:
    svg = draw()
    assert ElementTree.fromstring(svg).attrib["role"] == "img"
    assert len(label(svg)) > 40
    assert not re.search(r"style=|nan|inf\b", svg)


def test_the_error_picture_says_what_theory_says() -> None:
    """The best step is near the square root of the float64 epsilon forward, near its cube root central."""
    forward, central = (
        float(text.replace("−", "-")) for text in re.findall(r"h = ([\d.e−]+\d)", label(pictures.error_against_step()))
    )
    assert 0.1 < forward / math.sqrt(2**-52) < 10
    assert 0.1 < central / (2**-52) ** (1 / 3) < 10


def test_a_loss_curve_shows_its_first_and_last_value() -> None:
    svg = pictures.loss_curve([(1, 4.17), (2, 3.0), (30, 2.05)])
    assert svg is not None
    assert label(svg) == "The loss went from 4.17 at step 1 to 2.05 at step 30."
    assert ">4.17<" in svg
    assert ">2.05<" in svg


def test_a_loss_curve_falls_to_the_right() -> None:
    svg = pictures.loss_curve([(1, 4.0), (2, 3.0), (3, 2.0)])
    assert svg is not None
    path = next(p for p in ElementTree.fromstring(svg) if "compute" in p.attrib["class"] and p.tag == "path")
    points = [tuple(map(float, pair.split())) for pair in re.split("[ML]", path.attrib["d"])[1:]]
    assert points == sorted(points)
    assert [y for _, y in points] == sorted(y for _, y in points)


@pytest.mark.parametrize("points", [[], [(1, 4.0)], [(1, 4.0), (2, math.nan)]])
def test_too_little_to_draw_is_no_picture(points: list[tuple[int, float]]) -> None:
    assert pictures.loss_curve(points) is None


def test_a_level_curve_is_drawn() -> None:
    assert pictures.loss_curve([(1, 2.0), (2, 2.0)]) is not None
