"""Tasks take an id and call a service."""

from __future__ import annotations

from celery import shared_task

from feeds import services


@shared_task(name="feeds.fetch", queue="feeds", soft_time_limit=45, time_limit=60)
def fetch_source(pk: int) -> None:
    services.refresh_source(pk)


@shared_task(name="feeds.poll_due", queue="feeds")
def poll_due() -> None:
    services.poll_due()


@shared_task(name="feeds.sweep", queue="feeds")
def sweep() -> None:
    services.sweep()
