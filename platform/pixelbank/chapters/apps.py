from __future__ import annotations

from django.apps import AppConfig


class ChaptersConfig(AppConfig):
    name = "pixelbank.chapters"
    label = "chapters"
    verbose_name = "Chapters"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from pixelbank.chapters import content, elements, selectors, services
        from pixelbank.core import elements as registry
        from pixelbank.core import mathlock
        from pixelbank.learners import registry as learners

        for element in elements.ELEMENTS:
            registry.register(element)
        mathlock.register_source("chapters", content.formulas)
        learners.register("chapters", selectors.export, services.merge, selectors.overview)
