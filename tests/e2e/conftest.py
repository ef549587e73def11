"""Browser tests: the whole site, started once as `./dev run` starts it, and the system's Chromium."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright

from tests.environment import ROOT
from tests.site import Site

AXE = (ROOT / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8") if shutil.which("node") else ""
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.timeout(300))
            if chromium() is None:
                item.add_marker(pytest.mark.skip(reason="no Chromium on this machine (Debian: apt install chromium)"))


# For this folder only: a running site would slow the tests that follow, and Playwright's event loop would be in the
# way of theirs.
@pytest.fixture(scope="package")
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGUMENTS)
        yield browser
        browser.close()


class Visitor:
    """A visitor's browser context that notes every console error, CSP report and page error."""

    def __init__(self, context: BrowserContext, site: Site) -> None:
        self.context = context
        self.site = site
        self.errors: list[str] = []
        context.on("console", self._console)
        context.on("weberror", lambda error: self.errors.append(f"exception: {error.error}"))
        context.set_default_timeout(20_000)
        self.page = context.new_page()

    def _console(self, message: ConsoleMessage) -> None:
        # Chromium also logs a refused page as an error; tests that ask for one look at its status instead.
        if message.type == "error":
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")

    def go(self, path: str) -> Page:
        response = self.page.goto(self.site.address + path)
        assert response is not None
        assert response.ok, f"{path}: {response.status}"
        return self.page

    def axe(self) -> list[str]:
        """What axe-core finds wrong on the page, WCAG 2.0 to 2.2 A and AA and best practice, one line each."""
        # Evaluated through the debugger protocol, which the page's CSP does not concern.
        self.page.evaluate(AXE)
        result = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{violation['id']}: {violation['help']} — {node['target']} {node['failureSummary']}"
            for violation in result["violations"]
            for node in violation["nodes"]
        ]

    def sideways_pixels(self) -> int:
        """By how much the page can be scrolled sideways; 0 is right."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


@pytest.fixture
def visitor(browser: Browser, site: Site) -> Iterator[Visitor]:
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        visitor = Visitor(context, site)
        yield visitor
        assert visitor.errors == [], "the browser's console is not clean"


@pytest.fixture
def visitor_without_javascript(browser: Browser, site: Site) -> Iterator[Visitor]:
    with browser.new_context(java_script_enabled=False) as context:
        yield Visitor(context, site)
