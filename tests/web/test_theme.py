from __future__ import annotations

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


def test_without_a_choice_the_system_decides(client: Client) -> None:
    page = client.get("/about/").content.decode()
    assert '<html lang="en">' in page
    assert '<meta name="color-scheme" content="light dark">' in page


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_choice_is_in_the_first_byte_of_the_next_page(client: Client, theme: str) -> None:
    answer = client.post("/theme/", {"theme": theme, "next": "/about/?x=1"})
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/about/?x=1"
    page = client.get("/about/")
    assert f'<html lang="en" data-theme="{theme}">' in page.content.decode()
    assert f'value="{theme}" aria-pressed="true"' in page.content.decode()
    assert "Cookie" in page.headers["Vary"]


def test_back_to_the_system(client: Client) -> None:
    client.post("/theme/", {"theme": "dark"})
    client.post("/theme/", {"theme": "system"})
    assert "data-theme" not in client.get("/about/").content.decode()


def test_works_without_a_csrf_key_and_says_so_by_design() -> None:
    assert Client(enforce_csrf_checks=True).post("/theme/", {"theme": "dark"}).status_code == 302


@pytest.mark.parametrize(
    "target", ["//evil.example/", "https://evil.example/", "javascript:alert(1)", "\\\\evil.example"]
)
def test_never_leads_away_from_the_site(client: Client, target: str) -> None:
    answer = client.post("/theme/", {"theme": "dark", "next": target})
    assert answer.headers["Location"] == "/"


def test_unknown_themes_are_refused_and_forged_cookies_ignored(client: Client) -> None:
    assert client.post("/theme/", {"theme": '"><script>'}).status_code == 400
    client.cookies["theme"] = '"><script>alert(1)</script>'
    assert "<script>alert" not in client.get("/about/").content.decode()


def test_only_a_form_may_choose(client: Client) -> None:
    assert client.get("/theme/").status_code == 405
