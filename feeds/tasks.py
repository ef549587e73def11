"""Tasks take an id and call a service."""

from __future__ import annotations

from typing import Any

from celery import shared_task, signals

from feeds import services


@shared_task(name="feeds.fetch", queue="feeds", soft_time_limit=45, time_limit=60)
def fetch_source(pk: int) -> None:
    services.refresh_source(pk)


@shared_task(name="feeds.poll_due", queue="feeds")
def poll_due() -> None:
    services.poll_due()


@signals.worker_ready.connect
def poll_at_start(sender: Any, **_: Any) -> None:
    """A worker that has just started looks at once for what is due, so that a first page fills in seconds."""
    if "feeds" in sender.app.amqp.queues.consume_from:
        poll_due.apply_async(retry=False)


@shared_task(name="feeds.sweep", queue="feeds")
def sweep() -> None:
    services.sweep()
