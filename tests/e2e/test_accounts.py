"""Accounts in a browser, small and large, light and dark; what a visitor did survives the sign-up."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.e2e.conftest import Visitor
from tests.site import Site

PASSWORD = "correct horse battery"


@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (1280, "light")])
def test_a_visitor_becomes_an_account_and_leaves_again(site: Site, browser: Browser, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    visitor = Visitor(context, site)
    page = visitor.page

    def fine() -> None:
        assert visitor.axe() == [], page.url
        assert page.evaluate("document.documentElement.scrollWidth") <= width, page.url
        assert visitor.errors == [], page.url

    visitor.go("/me/")
    fine()
    page.get_by_label("Time zone").select_option("Asia/Tokyo")
    page.get_by_role("button", name="Keep").click()
    page.get_by_text("Your preferences are kept.").wait_for()
    fine()
    visitor.go("/me/delete/")
    fine()

    visitor.go("/accounts/login/")
    page.get_by_label("Email").fill("nobody@example.org")
    page.get_by_label("Password").fill("not the password")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("alert").wait_for()
    fine()

    address = f"ada-{width}-{scheme}@example.org"
    visitor.go("/accounts/signup/")
    page.get_by_label("Email").fill(address)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password (again)").fill(PASSWORD)
    page.get_by_role("button", name="Make my account").click()
    page.wait_for_url("**/me/")
    assert page.get_by_label("Time zone").input_value() == "Asia/Tokyo"
    fine()

    for path in ("/accounts/email/", "/accounts/password/change/", "/accounts/3rdparty/", "/accounts/logout/"):
        visitor.go(path)
        fine()

    visitor.go("/me/delete/")
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Delete my account").click()
    page.wait_for_url("**/me/deleted/")
    fine()
    visitor.go("/me/")
    page.get_by_text("Nothing is kept about you.").wait_for()
    context.close()
