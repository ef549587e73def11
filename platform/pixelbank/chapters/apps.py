from __future__ import annotations

from django.apps import AppConfig


class ChaptersConfig(AppConfig):
    name = "pixelbank.chapters"
    label = "chapters"
    default_auto_field = "django.db.models.BigAutoField"
