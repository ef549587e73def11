"""Celery tasks of the problems room: each takes an id and calls a service."""

from __future__ import annotations

from celery import shared_task

from problems import services
from problems import worker as worker  # connects the judge workers' signals


@shared_task(name="problems.judge")
def judge(pk: int) -> None:
    """A judge is free: judge the submission whose turn it is."""
    services.perform(pk)


@shared_task(name="problems.sweep")
def sweep() -> int:
    """Every 10 s by beat: send again what was left behind."""
    return services.sweep()
