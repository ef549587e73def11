from __future__ import annotations

from django.apps import AppConfig


class BlogConfig(AppConfig):
    name = "pixelbank.blog"
    label = "blog"
    default_auto_field = "django.db.models.BigAutoField"
