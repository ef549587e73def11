from __future__ import annotations

from django.apps import AppConfig


class TrainingConfig(AppConfig):
    name = "training"
    label = "training"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Training"

    def ready(self) -> None:
        from pixelbank.core import events, health, metrics
        from pixelbank.learners import registry
        from training import selectors, services, summary

        events.register(
            "run", may_follow=selectors.may_follow, snapshot=selectors.snapshot, finished=selectors.is_finished
        )
        health.register("training launcher", summary.launcher_health)
        metrics.register_gauge("pixelbank_training_runs", "Training runs by state.", "state", selectors.runs_by_state)
        registry.register("training", selectors.export, services.merge, summary.overview)
