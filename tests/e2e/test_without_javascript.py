"""The same four paths with JavaScript off: prose, first frames, forms, and reloading instead of live pages."""

from __future__ import annotations

import re
import time

from playwright.sync_api import Page, expect

from tests.e2e import walks
from tests.e2e.conftest import Visitor


def reload_until(page: Page, pattern: str, within_s: float = 90) -> None:
    """What the page asks a reader without JavaScript to do."""
    deadline = time.monotonic() + within_s
    while not re.search(pattern, page.get_by_role("main").inner_text(), re.I):
        assert time.monotonic() < deadline, f"{pattern!r} never came: {page.get_by_role('main').inner_text()[:2000]}"
        page.wait_for_timeout(500)
        page.reload()


def test_the_four_paths(visitor_without_javascript: Visitor) -> None:
    visitor = visitor_without_javascript
    page = visitor.go("/")
    expect(page.get_by_role("heading", level=1)).to_be_visible()

    # Read: formulas and the figure's first frame are there, and a check answers by a form post.
    page = visitor.go("/learn/pretraining/data-parallelism/")
    assert page.locator("math").count() > 3
    expect(page.locator("pb-ring-allreduce svg")).to_be_visible()
    question = page.locator("pb-quiz").nth(1)
    question.get_by_role("radio").first.check()
    question.get_by_role("button", name="Check").click()
    expect(page.locator("pb-quiz").nth(1)).to_contain_text(re.compile(r"Right\.|Not quite\."))

    # Solve: a plain textarea in a plain form.
    page = visitor.go("/problems/numericalgradient/")
    page.get_by_label("Your code").fill(walks.SOLUTION)
    page.get_by_role("button", name="Submit").click()
    reload_until(page, "Accepted")

    # Feed.
    walks.open_feed(page, visitor.site.address)

    # Train: the stored state, reload by reload.
    page = visitor.go("/lab/")
    page.get_by_role("spinbutton", name="Steps").fill("20")
    page.get_by_role("button", name="Start").click()
    reload_until(page, "Agrees with one process")
