from __future__ import annotations

import re
from typing import Any

import pytest
import redis
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import include, path

from pixelbank.web import errors


def raising(error: Exception) -> object:
    def view(request: HttpRequest) -> HttpResponse:
        raise error

    return view


urlpatterns = [
    path("bad/", raising(SuspiciousOperation("secret detail"))),
    path("forbidden/", raising(PermissionDenied("secret detail"))),
    path("broken/", raising(RuntimeError("secret detail"))),
    path("resting/", raising(OperationalError("secret detail"))),
    path("no-redis/", raising(redis.ConnectionError("secret detail"))),
    path("", include("pixelbank.urls")),
]
handler400 = errors.bad_request
handler403 = errors.permission_denied
handler404 = errors.page_not_found
handler500 = errors.server_error


@pytest.fixture
def visitor() -> Client:
    return Client(raise_request_exception=False, enforce_csrf_checks=True)


@pytest.mark.urls(__name__)
@pytest.mark.parametrize(
    ("address", "status", "title"),
    [
        ("/bad/", 400, "could not be read"),
        ("/forbidden/", 403, "not yours to open"),
        ("/no/such/page/", 404, "no page here"),
        ("/broken/", 500, "broke on our side"),
        ("/resting/", 503, "is resting"),
        ("/no-redis/", 503, "is resting"),
    ],
)
def test_error_pages_say_what_happened_and_where_to_go(visitor: Client, address: str, status: int, title: str) -> None:
    """No database mark: these pages must come when the database is what is broken."""
    answer = visitor.get(address)
    page = answer.content.decode()
    assert answer.status_code == status
    assert title in page
    assert 'href="/learn/pretraining/"' in page
    assert 'class="skip-link"' in page
    assert "secret detail" not in page
    assert "Content-Security-Policy" in answer.headers


@pytest.mark.urls(__name__)
def test_what_broke_can_be_found_again_by_its_reference(visitor: Client) -> None:
    page = visitor.get("/broken/").content.decode()
    assert re.search(r"reference: <code>[0-9a-f-]{36}</code>", page)
    assert "reference:" not in visitor.get("/no/such/page/").content.decode()


@pytest.mark.django_db
def test_a_form_without_its_key_gets_its_own_explanation(visitor: Client) -> None:
    answer = visitor.post("/accounts/login/", {"login": "a@example.org", "password": "x"})
    assert answer.status_code == 403
    assert "too old to be accepted" in answer.content.decode()


@pytest.mark.urls(__name__)
def test_a_busy_site_says_when_to_come_back(visitor: Client) -> None:
    assert visitor.get("/resting/").headers["Retry-After"] == "60"


def test_a_foreign_host_name_gets_an_error_page_and_not_a_second_error(visitor: Client) -> None:
    answer = visitor.get("/about/", headers={"host": "evil.example"})
    assert answer.status_code == 400
    assert "could not be read" in answer.content.decode()


@pytest.mark.django_db
def test_too_large_a_form_is_said_to_be_too_large(settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    answer = Client().post("/theme/", {"theme": "dark" * 1000})
    assert answer.status_code == 400
    assert "more than the site takes" in answer.content.decode()


def test_browsers_find_the_icon_also_where_a_page_names_none() -> None:
    answer = Client().get("/favicon.ico")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/static/web/favicon.svg")
