"""The anonymous learner's cookie: made by a lasting act, by nothing else, and worth nothing when changed."""

from __future__ import annotations

import uuid

import pytest
import time_machine
from django.contrib.sessions.models import Session
from django.core.signing import TimestampSigner, get_cookie_signer
from django.test import Client, override_settings
from django.urls import get_resolver
from django.urls.resolvers import URLPattern, URLResolver

from pixelbank.learners.models import Learner, User
from tests.learners.conftest import PASSWORD

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey")]

KEEP = {"time_zone": "Asia/Tokyo"}


def plain_addresses() -> list[str]:
    """Every address of the site that has no parameters."""

    def walk(patterns: list[URLPattern | URLResolver], prefix: str) -> list[str]:
        found = []
        for pattern in patterns:
            part = str(pattern.pattern)
            if any(sign in part for sign in "<(^"):
                continue
            if isinstance(pattern, URLResolver):
                found += walk(pattern.url_patterns, prefix + part)
            else:
                found.append(f"/{prefix}{part}")
        return found

    return walk(get_resolver().url_patterns, "")


def test_reading_pages_creates_nothing_and_sets_no_cookie_but_the_forms_key(client: Client) -> None:
    addresses = plain_addresses()
    assert {"/", "/me/", "/accounts/login/", "/me/export/"} <= set(addresses)
    for address in addresses:
        response = client.get(address)
        assert response.status_code < 500 or address == "/readyz", address
        assert set(response.cookies) <= {"csrftoken"}, address
    assert not Learner.objects.exists()
    assert not Session.objects.exists()
    assert not User.objects.exists()


def test_the_first_lasting_act_makes_one_learner(client: Client) -> None:
    first = client.post("/me/preferences/", KEEP)
    client.post("/me/preferences/", KEEP)
    assert Learner.objects.count() == 1
    cookie = first.cookies["learner"]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert cookie["path"] == "/"
    assert cookie["max-age"] == 365 * 24 * 3600
    assert not cookie["domain"]


def test_later_acts_renew_the_cookie(client: Client) -> None:
    client.post("/me/preferences/", KEEP)
    assert "learner" in client.post("/me/preferences/", KEEP).cookies
    assert "learner" not in client.get("/me/").cookies


@override_settings(LEARNER_COOKIE_NAME="__Host-learner", SESSION_COOKIE_SECURE=True)
def test_in_production_it_is_bound_to_this_host_and_to_https(client: Client) -> None:
    cookie = client.post("/me/preferences/", KEEP).cookies["__Host-learner"]
    assert cookie["secure"]
    assert cookie["path"] == "/"
    assert not cookie["domain"]


def changed_cookies(learner: Learner) -> list[str]:
    signed = get_cookie_signer(salt="learner").sign(str(learner.public_id))
    other = get_cookie_signer(salt="another cookie").sign(str(learner.public_id))
    return [
        str(learner.public_id),
        signed[:-1] + ("A" if signed[-1] != "A" else "B"),
        signed.replace(str(learner.public_id), str(uuid.uuid4())),
        other,
        TimestampSigner(key="a guessed key").sign(str(learner.public_id)),
        get_cookie_signer(salt="learner").sign("' OR 1=1 --"),
        "\x00\xff",
        "",
    ]


def test_a_changed_cookie_is_nobody(visitor: Learner) -> None:
    for value in changed_cookies(visitor):
        thief = Client()
        thief.cookies["learner"] = value
        page = thief.get("/me/")
        assert page.status_code == 200
        assert "Nothing is kept about you" in page.content.decode(), value
        assert "learner" not in thief.get("/me/export/").json()


def test_the_true_cookie_is_its_owner(visitor: Learner) -> None:
    owner = Client()
    owner.cookies["learner"] = get_cookie_signer(salt="learner").sign(str(visitor.public_id))
    assert owner.get("/me/export/").json()["learner"]["id"] == str(visitor.public_id)


def test_a_cookie_that_is_older_than_a_year_is_nobody(visitor: Learner) -> None:
    with time_machine.travel("2020-01-01T00:00:00Z", tick=False):
        old = get_cookie_signer(salt="learner").sign(str(visitor.public_id))
    late = Client()
    late.cookies["learner"] = old
    assert "learner" not in late.get("/me/export/").json()


def test_a_cookie_never_opens_an_account(client: Client, user: User) -> None:
    """Who once had the visitor's cookie gets nothing from it after the owner signed in."""
    client.post("/me/preferences/", KEEP)
    stolen = client.cookies["learner"].value
    client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    assert Learner.objects.get().user == user
    thief = Client()
    thief.cookies["learner"] = stolen
    assert "learner" not in thief.get("/me/export/").json()
