from __future__ import annotations

from django.apps import AppConfig

from pixelbank.core import health


class WebConfig(AppConfig):
    name = "pixelbank.web"
    label = "web"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from pixelbank.web import vite

        health.register("frontend", vite.problem)
