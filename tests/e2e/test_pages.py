"""Every page, light and dark, narrow and wide: no axe violation, no sideways scrolling, a clean console."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page

from tests.e2e.conftest import Visitor
from tests.site import Site

PAGES = (
    "/",
    "/learn/pretraining/",
    "/learn/pretraining/data-parallelism/",
    "/learn/pretraining/gradients-checked-numerically/",
    "/problems/",
    "/problems/numericalgradient/",
    "/lab/",
    "/feed/",
    "/feed/sources/",
    "/blog/",
    "/me/",
    "/about/",
    "/accounts/login/",
    "/accounts/signup/",
    "/accounts/password/reset/",
)
Theme = Literal["light", "dark"]


@pytest.fixture(params=[(theme, width) for theme in ("light", "dark") for width in (320, 1280)], ids=str)
def screen(request: pytest.FixtureRequest, browser: Browser, site: Site) -> Iterator[Visitor]:
    theme, width = request.param
    with browser.new_context(color_scheme=theme, viewport={"width": width, "height": 800}) as context:
        yield Visitor(context, site)


def scroll_through(page: Page) -> None:
    """Bring every lazy element into view, and wait until each is defined and drawn."""
    page.evaluate(
        """async () => {
          for (const element of document.querySelectorAll("*"))
            if (element.localName.startsWith("pb-")) {
              element.scrollIntoView();
              await customElements.whenDefined(element.localName);
              await element.updateComplete;
            }
          window.scrollTo(0, 0);
        }"""
    )


def test_every_page_is_accessible_fits_and_logs_nothing(screen: Visitor) -> None:
    wrong: list[str] = []
    for path in PAGES:
        page = screen.go(path)
        scroll_through(page)
        wrong += [f"{path}: {finding}" for finding in screen.axe()]
        if sideways := screen.sideways_pixels():
            wrong.append(f"{path}: scrolls sideways by {sideways} px")
    wrong += screen.errors
    assert wrong == []


def test_pages_that_do_not_exist_say_so_and_help_on(screen: Visitor) -> None:
    response = screen.page.goto(f"{screen.site.address}/no/such/page/")
    assert response is not None
    assert response.status == 404
    assert screen.page.get_by_role("link", name="Problems").first.is_visible()
    assert screen.axe() == []
    assert screen.sideways_pixels() == 0


def test_the_theme_switch_is_kept_and_there_is_no_flash(visitor: Visitor) -> None:
    page = visitor.go("/")
    page.emulate_media(color_scheme="light")
    page.get_by_role("button", name="Theme").click()
    page.get_by_role("button", name="Dark").click()
    page.locator("html[data-theme=dark]").wait_for()
    # The server knows the choice already, so the next page is dark from its first byte.
    body = page.request.get(f"{visitor.site.address}/about/").text()
    assert '<html lang="en" data-theme="dark">' in body


def test_the_first_tab_offers_to_skip_the_header(visitor: Visitor) -> None:
    page = visitor.go("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent").strip() == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_the_policy_allows_nothing_inline(visitor: Visitor) -> None:
    for path in PAGES:
        response = visitor.page.request.get(visitor.site.address + path)
        policy = response.headers["content-security-policy"]
        assert "unsafe" not in policy, path
        assert "'nonce-" in policy, path
