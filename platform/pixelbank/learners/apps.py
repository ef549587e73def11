from __future__ import annotations

from django.apps import AppConfig


class LearnersConfig(AppConfig):
    name = "pixelbank.learners"
    label = "learners"
    default_auto_field = "django.db.models.BigAutoField"
