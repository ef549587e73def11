"""Without Redis: pages go on, signing in rests and says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client, override_settings

from pixelbank.learners.models import User

pytestmark = pytest.mark.django_db


@pytest.fixture
def no_redis(tmp_path: Path) -> Iterator[None]:
    default = {**settings.CACHES["default"], "LOCATION": f"unix://{tmp_path}/nobody.sock"}
    with override_settings(CACHES={"default": default}):
        yield


def test_pages_go_on(client: Client, no_redis: None) -> None:
    for address in ("/", "/me/", "/accounts/login/"):
        assert client.get(address).status_code == 200, address


def test_signing_in_rests_rather_than_going_uncounted(client: Client, no_redis: None) -> None:
    User.objects.create_user("ada@example.org", "correct horse battery")
    form = {"login": "ada@example.org", "password": "correct horse battery"}
    response = client.post("/accounts/login/", form)
    assert response.status_code == 503
    assert response["Retry-After"] == "60"
    assert "Try again in a minute" in response.content.decode()
    assert not client.session.get("_auth_user_id")


def test_other_failures_are_not_hidden(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("pixelbank.learners.selectors.overviews", broken)
    client.post("/me/preferences/", {"time_zone": "UTC"})
    client.raise_request_exception = False
    assert client.get("/me/").status_code == 500
