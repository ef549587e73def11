"""The problem page in a real browser, judged in the real sandbox: what a learner sees of each kind of mistake."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, StorageState, expect

from tests.e2e import walks
from tests.e2e.conftest import Visitor
from tests.site import Site

FORWARD = walks.FORWARD
PROGRAMS = {
    "forward": FORWARD,
    "two": walks.SOLUTION.replace("(2 * h)", "h"),
    "shape": walks.SOLUTION.replace("return slopes if", "return slopes.reshape(-1) if"),
    "syntax": "import numpy as np\n\n\ndef numerical_gradient(f, x, h=1e-7)\n    return x\n",
    "exception": walks.SOLUTION.replace("slopes[index] = (f", "slopes[index] = (g"),
    "slow": "def numerical_gradient(f, x, h=1e-7):\n    while True:\n        pass\n",
    "right": walks.SOLUTION,
}
SAID = {
    "forward": "Only the right neighbour is used",
    "two": "Divided by h instead of 2h",
    "shape": "The answer loses its shape",
    "syntax": "SyntaxError in line 4",
    "exception": "NameError in line 11: name 'g' is not defined",
    "slow": "did not finish in 2 seconds",
    "right": "Accepted",
}


@pytest.fixture(scope="module")
def judged(browser: Browser, site: Site) -> Iterator[tuple[StorageState, dict[str, str]]]:
    """One learner's cookies, and the address of each result."""
    addresses = {}
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        visitor = Visitor(context, site)
        page = visitor.page
        for name, source in PROGRAMS.items():
            walks.open_problem(page, site.address)
            walks.type_code(page, source)
            page.get_by_role("button", name="Submit").click()
            expect(page.locator("[data-announce]")).not_to_be_empty(timeout=walks.JUDGED_WITHIN_MS)
            expect(page.locator("#result")).to_contain_text(SAID[name])
            addresses[name] = page.url
            if name == "forward":
                # drawn again by the script at the width that there is, also where the result came later than the page
                expect(page.locator("pb-evidence [role=img] svg[aria-hidden]")).to_be_visible()
        assert visitor.errors == []
        yield context.storage_state(), addresses


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_every_kind_of_result_is_accessible_and_fits(
    browser: Browser, site: Site, judged: tuple[StorageState, dict[str, str]], theme: str, width: int
) -> None:
    cookies, addresses = judged
    wrong = []
    with browser.new_context(
        color_scheme="dark" if theme == "dark" else "light",
        viewport={"width": width, "height": 900},
        storage_state=cookies,
    ) as context:
        visitor = Visitor(context, site)
        for name, address in addresses.items():
            page = visitor.go(address.removeprefix(site.address))
            expect(page.locator("#result")).to_contain_text(SAID[name])
            if page.locator("pb-evidence").count():
                page.locator("pb-evidence").scroll_into_view_if_needed()
                expect(page.locator("pb-evidence [role=img] svg[aria-hidden]")).to_be_visible()
            page.evaluate("document.querySelectorAll('main details').forEach((part) => { part.open = true; })")
            wrong += [f"{name}: {finding}" for finding in visitor.axe()]
            if sideways := visitor.sideways_pixels():
                wrong.append(f"{name}: scrolls sideways by {sideways} px")
        page.locator(".result-head a[href*='/submissions/']").click()
        expect(page.get_by_role("heading", name="Changes since version")).to_be_visible()
        wrong += [f"own page: {finding}" for finding in visitor.axe()]
        if sideways := visitor.sideways_pixels():
            wrong.append(f"own page scrolls sideways by {sideways} px")
        wrong += visitor.errors
    assert wrong == []


def test_without_a_script_the_picture_and_the_changes_are_there(
    browser: Browser, site: Site, judged: tuple[StorageState, dict[str, str]]
) -> None:
    cookies, addresses = judged
    with browser.new_context(java_script_enabled=False, storage_state=cookies) as context:
        page = context.new_page()
        page.goto(addresses["forward"])
        picture = page.get_by_role("img", name="The curve of f")
        expect(picture).to_be_visible()
        expect(picture).to_contain_text("yours: slope 9.25")
        expect(page.locator(".evidence figcaption")).to_contain_text("You called f at 1.5 and 2")
        page.goto(addresses["syntax"])
        expect(page.locator(".quoted-line")).to_contain_text("def numerical_gradient(f, x, h=1e-7)")
        page.goto(addresses["right"])
        expect(page.locator("#result")).to_contain_text("Bulletproof")
        page.get_by_role("link", name="since the last").first.click()
        expect(page.get_by_role("region", name="Changed lines")).to_contain_text("point = np.array")
        page.get_by_label("Compare with").select_option(index=5)
        page.get_by_role("button", name="Compare").click()
        expect(page.get_by_role("region", name="Changed lines")).to_contain_text("(2 * h)")


@pytest.mark.parametrize("width", [320, 360])
def test_on_a_phone_the_whole_history_is_in_sight(
    browser: Browser, site: Site, judged: tuple[StorageState, dict[str, str]], width: int
) -> None:
    cookies, addresses = judged
    with browser.new_context(
        java_script_enabled=False, storage_state=cookies, viewport={"width": width, "height": 740}
    ) as context:
        page = context.new_page()
        page.goto(addresses["forward"])
        times = page.locator(".history time")
        assert times.count() >= len(PROGRAMS)
        for box in (times.nth(i).bounding_box() for i in range(times.count())):
            assert box is not None
            assert box["x"] + box["width"] <= width


def test_after_three_judged_attempts_the_solution_has_its_figure(
    browser: Browser, site: Site, judged: tuple[StorageState, dict[str, str]]
) -> None:
    cookies, addresses = judged
    with browser.new_context(storage_state=cookies, viewport={"width": 1280, "height": 900}) as context:
        visitor = Visitor(context, site)
        page = visitor.go(addresses["two"].removeprefix(site.address))
        assert page.locator("details.hint").count() == 6
        page.get_by_text("Solution, explained").click()
        figure = page.locator("pb-difference-error")
        figure.scroll_into_view_if_needed()
        expect(figure.get_by_role("spinbutton").first).to_be_visible()
        assert visitor.sideways_pixels() == 0
        assert visitor.axe() == []
        assert visitor.errors == []
