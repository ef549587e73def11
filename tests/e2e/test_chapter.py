"""The chapter's figures and questions in a real browser: state in the address, keyboard, odd input, the place kept."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.e2e.conftest import Visitor

RING = "/learn/pretraining/data-parallelism/"
SLOPE = "/learn/pretraining/gradients-checked-numerically/"


def test_a_link_opens_the_ring_in_the_state_that_it_names(visitor: Visitor) -> None:
    page = visitor.go(f"{RING}#ring?n=8&step=7")
    figure = page.locator("pb-ring-allreduce")
    expect(figure).to_be_in_viewport()
    expect(figure.get_by_role("spinbutton")).to_have_value("8")
    expect(figure.locator(".position")).to_have_text("step 7 of 14")
    expect(figure.locator(".sentence")).to_contain_text("Step 7 of 14, reduce-scatter")
    expect(figure.locator(".count")).to_contain_text("device 0 sends 1680 bytes")


def test_a_ring_wider_than_the_screen_scrolls_in_its_box_and_by_keyboard(visitor: Visitor) -> None:
    visitor.page.set_viewport_size({"width": 360, "height": 800})
    page = visitor.go(f"{RING}#ring?n=16&step=30")
    picture = page.locator("pb-ring-allreduce .picture")
    expect(picture).to_have_attribute("tabindex", "0")
    assert visitor.sideways_pixels() == 0
    assert visitor.axe() == []
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(picture).not_to_have_attribute("tabindex", "0")


def test_odd_states_in_the_address_do_no_harm(visitor: Visitor) -> None:
    for state, devices in (("n=99&step=999", "16"), ("n=x&step=-5", "4"), ("", "4"), ("n=3.7", "4"), ("step=1e9", "4")):
        page = visitor.go(f"{RING}?again={len(state)}#ring?{state}")
        expect(page.locator("pb-ring-allreduce").get_by_role("spinbutton")).to_have_value(devices)
    assert visitor.errors == []


def test_the_ring_by_keyboard_alone(visitor: Visitor) -> None:
    page = visitor.go(RING)
    figure = page.locator("pb-ring-allreduce")
    figure.scroll_into_view_if_needed()
    number = figure.get_by_role("spinbutton")
    number.focus()
    number.fill("5")
    page.keyboard.press("Enter")
    expect(figure.locator(".position")).to_contain_text("of 8")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent").strip().startswith("Play")
    for _ in range(2):
        page.keyboard.press("Tab")
    before = figure.locator(".position").inner_text()
    page.keyboard.press("Enter")
    expect(figure.locator(".position")).not_to_have_text(before)
    assert re.search(r"#ring\?n=5&step=\d", page.url), page.url
    number.fill("400")
    page.keyboard.press("Tab")
    expect(number).to_have_value("16")


def test_the_ring_does_not_play_by_itself_and_stops_at_its_end(visitor: Visitor) -> None:
    page = visitor.go(f"{RING}#ring?n=2&step=0")
    figure = page.locator("pb-ring-allreduce")
    position = figure.locator(".position")
    expect(position).to_have_text("step 0 of 2")
    figure.get_by_role("button", name="Play").click()
    expect(position).to_have_text("step 2 of 2")
    expect(figure.get_by_role("button", name="Play")).to_be_visible()


def test_the_step_of_the_difference_can_be_typed_slid_and_linked(visitor: Visitor) -> None:
    page = visitor.go(SLOPE)
    figure = page.locator("pb-difference-error")
    figure.scroll_into_view_if_needed()
    typed = figure.get_by_role("textbox", name="Step h, as a number")
    typed.fill("0.25")
    typed.press("Enter")
    expect(figure.locator(".sentence")).to_contain_text("h = 0.25")
    expect(figure.locator(".sentence")).to_contain_text("the central one is off by 0.063")
    assert "h=0.25" in page.url
    for nonsense in ("-1", "abc", ""):
        typed.fill(nonsense)
        typed.press("Enter")
        expect(typed).to_have_value("0.25")
    slider = figure.get_by_role("slider", name="Step h")
    slider.focus()
    page.keyboard.press("Home")
    expect(figure.locator(".sentence")).to_contain_text("h = 1e−16")
    expect(slider).to_have_attribute("aria-valuetext", "1e−16")
    figure.get_by_label("Function").select_option("exp")
    expect(figure.locator(".sentence")).to_contain_text("eˣ at x = 1")
    page.get_by_role("link", name="The best region of the forward difference").click()
    expect(figure.locator(".sentence")).to_contain_text("x³ at x = 1.5, h = 1e−8")
    assert visitor.errors == []


def test_an_answer_is_checked_in_place_and_still_there_after_a_reload(visitor: Visitor) -> None:
    page = visitor.go(RING)
    question = page.locator("#dp-uneven")
    question.scroll_into_view_if_needed()
    question.get_by_role("radio", name="2", exact=True).check()
    question.get_by_role("button", name="Check").click()
    expect(question.get_by_role("status")).to_contain_text("Right.")
    page.reload()
    expect(question.get_by_role("status")).to_contain_text("Right.")
    expect(question.get_by_role("radio", name="2", exact=True)).to_be_checked()
    assert visitor.axe() == []


def test_the_place_is_kept_when_the_page_is_left(visitor: Visitor) -> None:
    page = visitor.go(RING)
    heading = page.get_by_role("heading", name="Does it scale?")
    heading.scroll_into_view_if_needed()
    with page.expect_response(lambda response: response.url.endswith("/place/"), timeout=30_000) as sent:
        page.wait_for_timeout(1)
    assert sent.value.status == 204
    page = visitor.go(RING)
    page.get_by_role("link", name="Go on where you stopped").click()
    expect(heading).to_be_in_viewport()
