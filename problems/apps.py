from __future__ import annotations

from django.apps import AppConfig


class ProblemsConfig(AppConfig):
    name = "problems"
    label = "problems"
    default_auto_field = "django.db.models.BigAutoField"
    verbose_name = "Problems"

    def ready(self) -> None:
        from pixelbank.core import events, health, mathlock, metrics
        from pixelbank.learners import registry
        from problems import content, selectors

        events.register(
            "submission", may_follow=selectors.may_follow, snapshot=selectors.snapshot, finished=selectors.is_finished
        )
        health.register("judge", selectors.judge_problem)
        metrics.register_gauge(
            "pixelbank_submissions", "Submissions by state.", "state", selectors.submissions_by_state
        )
        metrics.register_gauge(
            "pixelbank_submissions_waiting", "Waiting submissions by queue.", "queue", selectors.waiting_by_lane
        )
        metrics.register_gauge(
            "pixelbank_judge_errors", "Submissions that ended as a judge error.", "within", selectors.judge_errors
        )
        registry.register("problems", selectors.export, overview=selectors.overview)
        mathlock.register_source("problems", content.formulas)
