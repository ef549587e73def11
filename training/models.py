"""Facts of the training room: runs."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q
from django.urls import reverse

from pixelbank.core.rows import QueuedRow
from training.engine.config import ConfigError, RunConfig


class Run(QueuedRow):
    """One training run that a learner asked for. `token` counts its attempts (see QueuedRow)."""

    class State(models.TextChoices):
        QUEUED = "queued", "waiting"
        RUNNING = "running", "running"
        DONE = "done", "finished"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"
        LOST = "lost", "lost"

    state = models.CharField(max_length=16, choices=State.choices, default=State.QUEUED, db_index=True)
    learner = models.ForeignKey("learners.Learner", on_delete=models.CASCADE, related_name="training_runs")
    strategy = models.CharField(max_length=32, default="ddp")
    config = models.JSONField(default=dict, help_text="What RunConfig.from_mapping accepts.")
    reason = models.TextField(blank=True, help_text="Why it waits, failed, was cancelled or is lost: one sentence.")
    cancel_requested = models.BooleanField(default=False)
    facts = models.JSONField(default=dict, blank=True, help_text="The engine's `start` event.")
    points = models.JSONField(default=list, blank=True, help_text="[[step, mean loss], …]")
    twin = models.JSONField(default=list, blank=True, help_text="The same for the one-process twin.")
    live = models.JSONField(default=dict, blank=True, help_text="Latest figures: ranks, tokens_per_s, bytes, timeline.")
    result = models.JSONField(null=True, blank=True, help_text="The engine's `done` event.")

    class Meta:
        ordering = ["-created_at"]
        verbose_name = "training run"
        indexes = [models.Index(fields=["learner", "-created_at"], name="training_run_own")]
        constraints = [
            models.UniqueConstraint(
                fields=["learner"], condition=Q(state__in=["queued", "running"]), name="one_live_run_a_learner"
            )
        ]

    def __str__(self) -> str:
        return f"{self.strategy}, {self.config.get('ranks', '?')} ranks ({self.state})"

    def get_absolute_url(self) -> str:
        return reverse("training:run", args=[self.public_id])

    @property
    def run_config(self) -> RunConfig:
        """The validated config. Raises ConfigError for a row that an older version stored and this one refuses."""
        return RunConfig.from_mapping(self.config)

    @property
    def command(self) -> str:
        """The command line that repeats the run, or nothing for a config that is no longer accepted."""
        try:
            return self.run_config.command()
        except ConfigError:
            return ""

    @property
    def certificate(self) -> dict[str, Any] | None:
        """The comparison with one process, once the run is done."""
        return self.result.get("parity") if self.result else None
