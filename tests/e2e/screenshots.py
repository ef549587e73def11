"""`./dev screenshots`: pictures of every page from a running site, in var/pictures, and the README's overview.

Starts a site of its own with an empty database, solves the problem, trains, and then looks.
"""

from __future__ import annotations

import base64
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.e2e.conftest import CHROMIUM_ARGUMENTS, chromium
from tests.e2e.test_pages import PAGES, scroll_through
from tests.e2e.walks import open_feed, solve, train
from tests.environment import ROOT
from tests.site import Site

FOLDER = ROOT / "var" / "pictures"
OVERVIEW = ROOT / "docs" / "pictures" / "overview.png"
SHOWN = ("home", "submission", "run", "learn-pretraining-data-parallelism")


def name_of(path: str) -> str:
    return path.strip("/").replace("/", "-") or "home"


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with Site() as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGUMENTS)
        with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
            page = context.new_page()
            open_feed(page, site.address)
            solve(page, site.address)
            submission = page.url
            train(page, site.address)
            run = page.url
            cookies = context.storage_state()
        addresses = {name_of(path): site.address + path for path in PAGES} | {"submission": submission, "run": run}
        for theme in ("light", "dark"):
            for width in (360, 1280):
                with browser.new_context(
                    color_scheme=theme, viewport={"width": width, "height": 900}, storage_state=cookies
                ) as context:
                    page = context.new_page()
                    for name, address in addresses.items():
                        page.goto(address)
                        scroll_through(page)
                        page.screenshot(path=FOLDER / f"{name}-{theme}-{width}.png", full_page=True)
                        if theme == "light" and width == 1280 and name in SHOWN:
                            page.screenshot(path=FOLDER / f"{name}-cut.png")
        compose(browser)
        browser.close()
    return 0


def compose(browser: Browser) -> None:
    """Four pages in one picture, two by two."""
    images = "".join(f'<img src="{as_data(FOLDER / f"{name}-cut.png")}">' for name in SHOWN)
    style = "body{margin:0;display:grid;grid-template-columns:1fr 1fr;gap:16px;padding:16px}img{width:100%}"
    page = browser.new_page(viewport={"width": 1400, "height": 1020})
    page.set_content(f"<style>{style}</style>{images}")
    OVERVIEW.parent.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=OVERVIEW)


def as_data(path: Path) -> str:
    return "data:image/png;base64," + base64.b64encode(path.read_bytes()).decode()


if __name__ == "__main__":
    sys.exit(main())
