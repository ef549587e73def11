"""What a learner does, step by step, through roles and labels; for the browser tests and the picture script."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

SOLUTION = """import numpy as np


def numerical_gradient(f, x, h=1e-7):
    point = np.array(x, dtype=np.float64)
    slopes = np.empty(point.shape)
    for index in np.ndindex(point.shape):
        up, down = point.copy(), point.copy()
        up[index] += h
        down[index] -= h
        slopes[index] = (f(up) - f(down)) / (2 * h)
    return slopes if slopes.shape else float(slopes)
"""
FORWARD = SOLUTION.replace("f(down)", "f(point)").replace("(2 * h)", "h")
JUDGED_WITHIN_MS = 60_000
TRAINED_WITHIN_MS = 120_000


def read_and_play(page: Page, address: str) -> None:
    """Read a section, drive its figure from the prose, answer a check, and note the section as done."""
    page.goto(f"{address}/learn/pretraining/")
    page.get_by_role("main").get_by_role("link", name="Data parallelism").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Data parallelism")

    figure = page.locator("pb-ring-allreduce")
    figure.scroll_into_view_if_needed()
    devices = figure.get_by_role("spinbutton", name="Number of devices")
    sentence = figure.locator(".sentence")
    expect(devices).to_have_value("4")
    page.get_by_role("main").get_by_role("link", name="set the ring to 8 devices").click()
    expect(devices).to_have_value("8")
    expect(sentence).to_contain_text("Step 14 of 14")
    figure.get_by_role("button", name="Reset").click()
    expect(sentence).not_to_contain_text("Step 14 of 14")

    question = page.locator("pb-quiz").nth(1)
    question.scroll_into_view_if_needed()
    question.get_by_role("radio").first.check()
    question.get_by_role("button", name="Check").click()
    expect(question.get_by_role("status")).to_contain_text(re.compile(r"Right\.|Not quite\."))

    page.get_by_role("button", name="Mark as done").click()
    expect(page.get_by_role("button", name="Mark as not done")).to_be_visible()


def open_problem(page: Page, address: str) -> None:
    page.goto(f"{address}/problems/")
    page.get_by_role("main").get_by_role("link", name="Numerical Gradient").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Numerical Gradient")


def type_code(page: Page, code: str) -> None:
    """Replace what is in the editor, with the keyboard. insert_text goes in as one paste, without auto-indent."""
    expect(page.locator(".cm-content")).to_be_visible()  # the editor loads when it comes into view
    page.get_by_role("textbox", name="Your code").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(code)


def expect_verdict(page: Page, text: str) -> None:
    expect(page.locator("#result .result-verdict")).to_contain_text(text, timeout=JUDGED_WITHIN_MS)


def solve(page: Page, address: str) -> None:
    """First a forward difference, which is refused; then the central one, which is accepted."""
    open_problem(page, address)
    type_code(page, FORWARD)
    page.get_by_role("button", name="Submit").click()
    expect_verdict(page, "Wrong")
    type_code(page, SOLUTION)
    page.get_by_role("button", name="Submit").click()
    expect_verdict(page, "Accepted")


def open_feed(page: Page, address: str) -> None:
    """Today's posts: the sample sources are fetched within the first minute of a new site."""
    page.goto(f"{address}/feed/")
    posts = page.get_by_role("main").get_by_role("article")
    deadline_looks = 90
    for _ in range(deadline_looks):
        if posts.count():
            break
        page.wait_for_timeout(1000)  # the page itself says "look again": it has no live part
        page.reload()
    expect(posts.first).to_be_visible()


def train(page: Page, address: str, steps: int = 30) -> None:
    """Two ranks; the loss falls live, and the run ends with its certificate."""
    page.goto(f"{address}/lab/")
    page.get_by_role("radio", name="2").check()
    page.get_by_role("spinbutton", name="Steps").fill(str(steps))
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(re.compile(r"/lab/runs/"))
    expect(page.get_by_role("heading", name="Certificate")).to_be_visible(timeout=TRAINED_WITHIN_MS)
    expect(page.get_by_text("Agrees with one process")).to_be_visible()
