from __future__ import annotations

from django.apps import AppConfig


class ProblemsConfig(AppConfig):
    name = "problems"
    label = "problems"
    default_auto_field = "django.db.models.BigAutoField"
