"""Accounts are named by their e-mail address, in whatever case it is typed."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction

from pixelbank.learners.models import User

pytestmark = pytest.mark.django_db


def test_createsuperuser_asks_for_an_address_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "correct horse battery")
    call_command("createsuperuser", email="Ops@Example.org", interactive=False, verbosity=0)
    ops = User.objects.get()
    assert (ops.email, ops.is_staff, ops.is_superuser) == ("ops@example.org", True, True)
    assert ops.check_password("correct horse battery")
    with pytest.raises(CommandError, match="email"):
        call_command("createsuperuser", interactive=False, verbosity=0)


def test_an_address_is_one_account_in_any_case() -> None:
    User.objects.create_user("Ada@Example.ORG", "correct horse battery")
    assert User.objects.get_by_natural_key("ADA@example.org").email == "ada@example.org"
    with pytest.raises(IntegrityError), transaction.atomic():
        # Past the manager, which would write it in lower case.
        User.objects.create(email="ADA@example.org")


def test_an_account_needs_an_address() -> None:
    with pytest.raises(ValueError, match="e-mail"):
        User.objects.create_user("", "correct horse battery")


def test_users_have_no_name_that_could_be_shown_to_others() -> None:
    fields = {field.name for field in User._meta.get_fields()}
    assert not fields & {"username", "first_name", "last_name"}
