"""The frame of every page, by keyboard only: skip link and theme switch."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Visitor


def paper(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))


def test_the_first_tab_stop_leads_past_the_header(visitor: Visitor) -> None:
    page = visitor.go("/about/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")


def test_the_theme_is_chosen_by_keyboard_shows_at_once_and_stays(visitor: Visitor) -> None:
    page = visitor.go("/about/")
    light = paper(page)
    page.get_by_role("button", name="Theme").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Dark").focus()
    page.keyboard.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.get_by_role("button", name="Dark")).to_be_hidden()
    dark = paper(page)
    assert dark != light
    with page.expect_response(re.compile(r"/about/$")) as answer:
        page.reload()
    assert '<html lang="en" data-theme="dark">' in answer.value.text()
    assert paper(page) == dark


def test_another_open_tab_follows(visitor: Visitor) -> None:
    page = visitor.go("/about/")
    other = visitor.context.new_page()
    other.goto(visitor.site.address + "/about/")
    page.get_by_role("button", name="Theme").click()
    page.get_by_role("button", name="Dark").click()
    expect(other.locator("html")).to_have_attribute("data-theme", "dark")


def test_the_theme_switch_works_without_scripts(visitor_without_javascript: Visitor) -> None:
    page = visitor_without_javascript.go("/about/?from=here")
    page.get_by_role("button", name="Theme").click()
    page.get_by_role("button", name="Dark").click()
    expect(page).to_have_url(re.compile(r"/about/\?from=here$"))
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
