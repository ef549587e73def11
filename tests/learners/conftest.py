from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client, modify_settings

from pixelbank.learners import registry
from pixelbank.learners.models import Learner, User

PASSWORD = "correct horse battery"


@pytest.fixture
def user(db: None) -> User:
    return User.objects.create_user("ada@example.org", PASSWORD)


@pytest.fixture
def visitor(client: Client, db: None) -> Learner:
    """A visitor who kept a preference: a learner without an account, and its cookie in `client`."""
    client.post("/me/preferences/", {"time_zone": "Asia/Tokyo"})
    return Learner.objects.get()


@pytest.fixture
def room(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The test room, installed, with tables; its models module. It is registered by the test itself."""
    monkeypatch.setattr(registry, "rooms", {})
    with modify_settings(INSTALLED_APPS={"append": "tests.learners.room.apps.RoomConfig"}):
        from tests.learners.room import models

        apps.clear_cache()  # the learner's model remembers who points to it
        made = [models.Note, models.Progress, models.Mark]
        with connection.schema_editor() as editor:
            for model in made:
                editor.create_model(model)
        yield models
        with connection.schema_editor() as editor:
            for model in reversed(made):
                editor.delete_model(model)
    apps.clear_cache()
