"""Celery tasks of the training room: each takes an id and calls a service. No torch in this process."""

from __future__ import annotations

from celery import shared_task

from training import services


@shared_task(name="training.run")
def run(pk: int) -> None:
    """Run a stored run to its end."""
    services.perform(pk)


@shared_task(name="training.sweep")
def sweep() -> int:
    """Every 10 s by beat: re-queue or give up what dead workers left behind."""
    return services.sweep()
