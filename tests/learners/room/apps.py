"""A room that exists only in tests, with what real rooms have: rows that clash, rows that do not, a hidden key."""

from __future__ import annotations

from django.apps import AppConfig


class RoomConfig(AppConfig):
    name = "tests.learners.room"
    label = "test_room"
    default_auto_field = "django.db.models.BigAutoField"
