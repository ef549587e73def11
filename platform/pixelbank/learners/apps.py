from __future__ import annotations

from django.apps import AppConfig


class LearnersConfig(AppConfig):
    name = "pixelbank.learners"
    label = "learners"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from django.contrib.auth.signals import user_logged_in

        from pixelbank.learners.signals import adopt_visitor

        user_logged_in.connect(adopt_visitor, dispatch_uid="learners.adopt_visitor")
