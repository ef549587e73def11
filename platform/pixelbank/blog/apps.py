from __future__ import annotations

from django.apps import AppConfig


class BlogConfig(AppConfig):
    name = "pixelbank.blog"
    label = "blog"
    verbose_name = "Blog"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from pixelbank.blog import services
        from pixelbank.core import mathlock

        mathlock.register_source("blog", services.formulas)
