from __future__ import annotations

from django.apps import AppConfig


class CoreConfig(AppConfig):
    name = "pixelbank.core"
    label = "core"

    def ready(self) -> None:
        import pixelbank.celery  # noqa: F401 - makes it the app that @shared_task uses, also in the web process
        from pixelbank.core import health, requestlog

        health.register("database", health.database)
        health.register("redis", health.redis)
        requestlog.connect()
