"""First light: the four paths, walked in a real browser on the real site with real workers."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.e2e import walks
from tests.e2e.conftest import Visitor


def test_the_home_page_leads_to_all_four(visitor: Visitor) -> None:
    page = visitor.go("/")
    main = page.get_by_role("main")
    for address in ("/learn/", "/problems/", "/feed/", "/lab/"):
        assert main.locator(f"a[href^='{address}'], form[action^='{address}']").count(), address


def test_a_chapter_section_with_a_working_figure(visitor: Visitor) -> None:
    walks.read_and_play(visitor.page, visitor.site.address)
    # The place is kept without an account.
    page = visitor.go("/learn/pretraining/")
    expect(page.get_by_role("main")).to_contain_text("done")


def test_a_problem_solved_in_the_sandbox(visitor: Visitor) -> None:
    page = visitor.page
    walks.solve(page, visitor.site.address)
    # The verdict names the version that it judged, and both attempts are in the history.
    expect(page.locator("#history")).to_contain_text("Accepted")
    expect(page.locator("#history")).to_contain_text("Wrong")
    # Solving opens the explained solution at once, without a reload.
    expect(page.get_by_text("Solution, explained")).to_be_visible()
    page.reload()
    walks.expect_verdict(page, "Accepted")


def test_run_tries_the_samples_and_own_input_by_keyboard_alone(visitor: Visitor) -> None:
    page = visitor.page
    walks.open_problem(page, visitor.site.address)
    walks.type_code(page, walks.SOLUTION + "\nprint('a note to myself')\n")
    # Escape, then Tab, leaves the editor.
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert not page.evaluate("document.activeElement.closest('.cm-editor') !== null")
    page.get_by_role("textbox", name="Your code").focus()
    page.keyboard.press("Control+Enter")
    walks.expect_verdict(page, "Samples pass")
    expect(page.locator("#result")).to_contain_text("a note to myself")


def test_todays_posts_and_their_filters(visitor: Visitor) -> None:
    page = visitor.page
    walks.open_feed(page, visitor.site.address)
    everything = page.get_by_role("article").count()
    page.get_by_role("navigation", name="Filters").get_by_role("link", name=re.compile("language models", re.I)).click()
    assert 0 < page.get_by_role("article").count() <= everything
    page.get_by_role("article").first.get_by_role("link").first.click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert visitor.axe() == []


def test_a_training_run_watched_live(visitor: Visitor) -> None:
    page = visitor.page
    walks.train(page, visitor.site.address, steps=40)
    expect(page.get_by_text("40 / 40").first).to_be_visible()
    assert visitor.axe() == []
    # What was live is stored: the same page, read again, shows the same end.
    page.reload()
    expect(page.get_by_text("Agrees with one process")).to_be_visible()


def test_a_run_can_be_cancelled(visitor: Visitor) -> None:
    page = visitor.page
    page.goto(f"{visitor.site.address}/lab/")
    page.get_by_role("spinbutton", name="Steps").fill("300")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("button", name="Cancel this run").click()
    expect(page.get_by_role("main")).to_contain_text(re.compile("cancelled", re.I), timeout=30_000)


def test_what_a_visitor_did_is_theirs_after_signing_up(visitor: Visitor) -> None:
    page = visitor.page
    walks.read_and_play(page, visitor.site.address)
    page.goto(f"{visitor.site.address}/accounts/signup/")
    page.get_by_label("Email").fill("ada@example.org")
    page.get_by_label("Password", exact=True).fill("a long enough sentence")
    page.get_by_label(re.compile("again", re.I)).fill("a long enough sentence")
    page.get_by_role("button", name="Make my account").click()
    page.wait_for_url(re.compile("/me/"))
    expect(page.get_by_role("progressbar", name="Sections done")).to_have_attribute("value", "1")
