"""The learner's page: progress, preferences, export, deletion; for accounts and for visitors."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from pixelbank.learners import registry
from pixelbank.learners.models import Learner, User
from pixelbank.learners.registry import Entry, Figure, Overview

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey")]


@pytest.fixture
def sections(monkeypatch: pytest.MonkeyPatch) -> None:
    """A room with an overview and an export, and one without anything to show."""
    monkeypatch.setattr(registry, "rooms", {})
    overview = Overview(
        "The chapter", "/learn/pretraining/", [Figure("Sections read", 2, of=23)], [Entry("Next <one>", "/x/", "5 min")]
    )
    registry.register("chapters", export=lambda _: {"read": ["a", "b"]}, overview=lambda _: overview)
    registry.register("quiet", export=lambda _: [], overview=lambda _: None)


def test_a_visitor_who_did_nothing_reads_that_nothing_is_kept(client: Client) -> None:
    page = client.get("/me/")
    assert page.status_code == 200
    assert "Nothing is kept about you" in page.content.decode()
    assert "Forget me" not in page.content.decode()
    assert "no-store" in page["Cache-Control"]


def test_rooms_show_progress(client: Client, sections: None, visitor: Learner) -> None:
    page = client.get("/me/").content.decode()
    assert '<progress class="progress" value="2" max="23" aria-label="Sections read">' in page
    assert "of 23" in page
    assert "Next &lt;one&gt;" in page
    assert "Kept in this browser since" in page


def test_the_time_zone_counts_on_every_page_and_only_for_its_learner(
    client: Client,
) -> None:
    client.post("/me/preferences/", {"time_zone": "Pacific/Kiritimati"})
    learner = Learner.objects.get()
    Learner.objects.update(created_at="2026-03-01T23:00:00Z")
    assert learner.preferences == {"time_zone": "Pacific/Kiritimati"}
    assert "since 2 March 2026" in client.get("/me/").content.decode()
    other = Client()
    other.post("/me/preferences/", {"time_zone": "UTC"})
    Learner.objects.update(created_at="2026-03-01T23:00:00Z")
    assert "since 1 March 2026" in other.get("/me/").content.decode()


def test_an_unknown_time_zone_is_refused_and_a_removed_one_does_no_harm(client: Client, visitor: Learner) -> None:
    page = client.post("/me/preferences/", {"time_zone": "Mars/Base"})
    assert page.status_code == 400
    assert 'aria-invalid="true"' in page.content.decode()
    Learner.objects.update(preferences={"time_zone": "Mars/Base"})
    assert client.get("/me/").status_code == 200


def test_the_export_of_an_account_holds_everything(client: Client, sections: None, user: User) -> None:
    client.force_login(user)
    client.post("/me/preferences/", {"time_zone": "Asia/Tokyo"})
    response = client.get("/me/export/")
    assert response["Content-Type"] == "application/json"
    assert response["Content-Disposition"].startswith('attachment; filename="pixelbank-')
    data = json.loads(response.content)
    assert data["account"]["email"] == "ada@example.org"
    assert data["learner"]["preferences"] == {"time_zone": "Asia/Tokyo"}
    assert data["rooms"] == {"chapters": {"read": ["a", "b"]}, "quiet": []}
    assert "argon2" not in response.content.decode(), "a password's hash is no use to its owner, and a danger"


def test_every_room_of_the_site_exports_what_json_can_hold(client: Client, visitor: Learner) -> None:
    data = client.get("/me/export/").json()
    assert set(data["rooms"]) == set(registry.rooms)


def test_exports_are_limited(client: Client, visitor: Learner) -> None:
    answers = [client.get("/me/export/") for _ in range(21)]
    assert [answer.status_code for answer in answers] == [200] * 20 + [429]
    assert int(answers[-1]["Retry-After"]) >= 1


def test_a_visitor_is_forgotten_by_the_button_alone(client: Client, visitor: Learner) -> None:
    other = Learner.objects.create()
    assert "Forget me" in client.get("/me/delete/").content.decode()
    assert Learner.objects.count() == 2, "looking must delete nothing"
    response = client.post("/me/delete/")
    assert response["Location"] == "/me/deleted/"
    assert response.cookies["learner"].value == ""
    assert list(Learner.objects.all()) == [other]
    assert client.get("/me/deleted/").status_code == 200


def test_an_account_is_deleted_with_its_password_only(client: Client, user: User) -> None:
    client.force_login(user)
    client.post("/me/preferences/", {"time_zone": "Asia/Tokyo"})
    refused = client.post("/me/delete/", {"password": "a guess"})
    assert refused.status_code == 400
    assert "Nothing was deleted" in refused.content.decode()
    assert User.objects.exists()
    client.post("/me/delete/", {"password": "correct horse battery"})
    assert not User.objects.exists()
    assert not Learner.objects.exists()
    assert not client.session.get("_auth_user_id")


def test_guessing_the_password_at_the_deletion_is_limited(client: Client, user: User) -> None:
    client.force_login(user)
    answers = [client.post("/me/delete/", {"password": f"guess {n}"}).status_code for n in range(6)]
    assert answers == [400] * 5 + [429]
    assert client.post("/me/delete/", {"password": "correct horse battery"}).status_code == 429
    assert User.objects.exists()


def test_an_account_without_a_password_confirms_with_its_address(client: Client, user: User) -> None:
    user.set_unusable_password()
    user.save()
    client.force_login(user)
    assert client.post("/me/delete/", {"email": "other@example.org"}).status_code == 400
    assert client.post("/me/delete/", {"email": "Ada@Example.org"}).status_code == 302
    assert not User.objects.exists()


def test_nothing_to_delete_leads_back(client: Client) -> None:
    assert client.post("/me/delete/")["Location"] == "/me/"


@pytest.mark.django_db(transaction=True)
def test_deletion_finds_every_row_and_spares_the_others(room: Any, client: Client, visitor: Learner) -> None:
    other = Learner.objects.create()
    for learner in (visitor, other):
        room.Note.objects.create(learner=learner, text="x")
        room.Progress.objects.create(learner=learner, section="s", seconds=1)
        room.Mark.objects.create(learner=learner)
    page = client.get("/me/delete/").content.decode()
    for line in ("1 notes", "1 progress rows", "1 marks"):
        assert line in page
    client.post("/me/delete/")
    for model in (room.Note, room.Progress, room.Mark):
        assert [row.learner for row in model.objects.all()] == [other]


def test_forms_are_guarded_against_other_sites(visitor: Learner) -> None:
    strict = Client(enforce_csrf_checks=True)
    for address in ("/me/delete/", "/me/preferences/", "/accounts/login/", "/accounts/signup/", "/accounts/logout/"):
        assert strict.post(address).status_code == 403, address
