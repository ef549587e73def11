"""What a visitor did joins the account at sign-in: every row, once, also where two rows clash."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from django.test import Client

from pixelbank.learners import registry, services
from pixelbank.learners.models import Learner, User
from tests.learners.conftest import PASSWORD

pytestmark = pytest.mark.usefixtures("valkey")


def longer_reading_wins(models: Any) -> registry.Merge:
    def merge(source: Learner, target: Learner) -> None:
        for theirs in models.Progress.objects.filter(learner=source):
            mine = models.Progress.objects.filter(learner=target, section=theirs.section).first()
            if mine is not None:
                mine.seconds = max(mine.seconds, theirs.seconds)
                mine.save()
                theirs.delete()

    return merge


def fill(models: Any, learner: Learner, mine: bool) -> None:
    models.Note.objects.create(learner=learner, text="account" if mine else "visitor")
    models.Mark.objects.create(learner=learner)
    models.Progress.objects.create(learner=learner, section="both", seconds=10 if mine else 99)
    models.Progress.objects.create(learner=learner, section="account" if mine else "visitor", seconds=1)


@pytest.fixture
def two(room: Any, client: Client, user: User, visitor: Learner) -> tuple[Learner, Learner]:
    """An account's learner and a visitor's in one browser, both with rows in the test room."""
    own = Learner.objects.create(user=user, preferences={"time_zone": "Europe/Paris"})
    fill(room, own, mine=True)
    fill(room, visitor, mine=False)
    return own, visitor


def test_sign_in_moves_everything_and_settles_clashes(
    room: Any, two: tuple[Learner, Learner], client: Client, user: User
) -> None:
    registry.register("room", export=lambda learner: [], merge=longer_reading_wins(room))
    response = client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    own, _ = two
    assert response.cookies["learner"].value == ""
    assert list(Learner.objects.all()) == [own]
    assert sorted(room.Note.objects.filter(learner=own).values_list("text", flat=True)) == ["account", "visitor"]
    assert room.Mark.objects.filter(learner=own).count() == 2
    progress = dict(room.Progress.objects.filter(learner=own).values_list("section", "seconds"))
    assert progress == {"both": 99, "account": 1, "visitor": 1}


def test_the_accounts_own_preferences_win(room: Any, two: tuple[Learner, Learner]) -> None:
    registry.register("room", export=lambda learner: [], merge=longer_reading_wins(room))
    own, visitor = two
    visitor.preferences = {"time_zone": "Asia/Tokyo", "only_theirs": 1}
    services.merge(visitor, own)
    own.refresh_from_db()
    assert own.preferences == {"time_zone": "Europe/Paris", "only_theirs": 1}


def test_a_clash_that_no_room_settles_loses_nothing_and_locks_nobody_out(
    room: Any, two: tuple[Learner, Learner], client: Client, user: User, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, logger="pixelbank.learners.signals"):
        response = client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    own, visitor = two
    assert response.status_code == 302
    assert client.session.get("_auth_user_id") == str(user.pk)
    assert "two rows clash" in caplog.text
    # The visitor is whole, and its cookie still there: the next sign-in tries again.
    assert room.Note.objects.filter(learner=visitor).count() == 1
    assert room.Progress.objects.filter(learner=visitor).count() == 2
    assert "learner" not in response.cookies
    registry.register("room", export=lambda learner: [], merge=longer_reading_wins(room))
    client.post("/accounts/logout/")
    client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    assert list(Learner.objects.all()) == [own]


def test_sign_up_turns_the_visitor_into_the_account(room: Any, client: Client, visitor: Learner) -> None:
    fill(room, visitor, mine=False)
    client.post("/accounts/signup/", {"email": "new@example.org", "password1": PASSWORD, "password2": PASSWORD})
    visitor.refresh_from_db()
    assert visitor.user is not None
    assert visitor.user.email == "new@example.org"
    assert room.Progress.objects.filter(learner=visitor).count() == 2


@pytest.mark.django_db
def test_signing_in_with_nothing_to_merge_creates_nothing(client: Client, user: User) -> None:
    client.post("/accounts/login/", {"login": user.email, "password": PASSWORD})
    assert not Learner.objects.exists()
