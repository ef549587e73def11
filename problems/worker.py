"""What a Celery worker for the judge's queues does at its start: test the sandbox, and take nothing if it fails.

The test runs in the worker's main process before its pool is forked, so every pool process knows the result. A worker
whose sandbox failed leaves the queue `judge` alone; the submissions in it wait for a judge that can.
"""

from __future__ import annotations

import logging
import time
from typing import Any

from celery import signals
from django.db import DatabaseError, close_old_connections, connections

from problems import judging, services

log = logging.getLogger(__name__)
QUEUES = frozenset({"judge", "judge.bulk"})
SAY_EVERY_S = 20.0
_name = ""
_said_at = 0.0


@signals.worker_init.connect
def _start(sender: Any, **_: Any) -> None:
    global _name
    queues = sender.app.amqp.queues
    if not QUEUES & set(queues.consume_from):
        return
    _name = sender.hostname
    report = judging.test()
    if not report.usable:
        # judge.bulk also carries the sweeper, so it goes on; its judging tasks claim nothing without a sandbox.
        queues.deselect("judge")
    try:
        services.announce_judge(_name, report)
    except DatabaseError as error:
        log.error("The judge's self-test could not be noted: %s", error)
    connections.close_all()


@signals.heartbeat_sent.connect
def _alive(**_: Any) -> None:
    global _said_at
    if not _name or time.monotonic() - _said_at < SAY_EVERY_S:
        return
    _said_at = time.monotonic()
    close_old_connections()
    try:
        services.judge_seen(_name)
    except DatabaseError as error:
        log.warning("The judge could not say that it is alive: %s", error)
    connections.close_all()


@signals.worker_shutdown.connect
def _stop(**_: Any) -> None:
    if not _name:
        return
    try:
        services.judge_gone(_name)
    except DatabaseError as error:
        log.warning("The judge could not say that it stops: %s", error)
    connections.close_all()
