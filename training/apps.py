from __future__ import annotations

from django.apps import AppConfig


class TrainingConfig(AppConfig):
    name = "training"
    label = "training"
    default_auto_field = "django.db.models.BigAutoField"
