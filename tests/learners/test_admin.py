"""The admin has no door of its own."""

from __future__ import annotations

import pytest
from django.test import Client

from pixelbank.learners.models import Learner, User
from tests.learners.conftest import PASSWORD

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey")]


@pytest.fixture
def staff(client: Client) -> User:
    ops = User.objects.create_superuser("ops@example.org", PASSWORD)
    client.force_login(ops)
    return ops


def test_visitors_are_sent_to_the_sites_sign_in(client: Client) -> None:
    assert client.get("/admin/", follow=True).redirect_chain[-1][0] == "/accounts/login/?next=%2Fadmin%2F"
    form = {"username": "ops@example.org", "password": PASSWORD}
    User.objects.create_superuser("ops@example.org", PASSWORD)
    assert client.post("/admin/login/", form)["Location"].startswith("/accounts/login/")
    assert not client.session.get("_auth_user_id")


def test_learners_with_an_account_are_turned_away(client: Client, user: User) -> None:
    client.force_login(user)
    assert client.get("/admin/", follow=True).status_code == 403


def test_staff_sees_the_index(client: Client, staff: User) -> None:
    page = client.get("/admin/")
    assert "Content, work and accounts" in page.content.decode()
    assert "script-src 'self';" in page["Content-Security-Policy"]


def test_staff_can_make_and_change_accounts(client: Client, staff: User) -> None:
    made = client.post(
        "/admin/learners/user/add/",
        {"email": "New@Example.org", "usable_password": "true", "password1": PASSWORD, "password2": PASSWORD},
    )
    assert made.status_code == 302, made.context["errors"]
    new = User.objects.get(email="new@example.org")
    assert new.check_password(PASSWORD)
    assert client.get(f"/admin/learners/user/{new.pk}/change/").status_code == 200
    assert client.get("/admin/learners/user/?q=new").status_code == 200


def test_learners_are_looked_at_but_not_made(client: Client, staff: User) -> None:
    Learner.objects.create()
    assert client.get("/admin/learners/learner/").status_code == 200
    assert client.get("/admin/learners/learner/add/").status_code == 403
