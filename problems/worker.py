"""What a Celery worker for the judge's queues does at its start: test the sandbox, and take nothing if it fails.

The test runs in the worker's main process before its pool is forked, so every pool process knows the result. A worker
whose sandbox failed leaves the queue `judge` alone; the submissions in it wait for a judge that can. Once a minute it
tests again, and when the sandbox holds it stops, to be started anew by whatever supervises it.
"""

from __future__ import annotations

import logging
import time
from typing import Any

from celery import signals
from celery.worker import state
from django.db import DatabaseError, close_old_connections, connections

from problems import judging, queue, services

log = logging.getLogger(__name__)
QUEUES = frozenset({queue.INTERACTIVE, queue.BULK})
SAY_EVERY_S = 20.0
TEST_EVERY_S = 60.0
_name = ""
_usable = False
_said_at = _tested_at = 0.0


@signals.worker_init.connect
def _start(sender: Any, **_: Any) -> None:
    global _name, _usable, _tested_at
    queues = sender.app.amqp.queues
    if not QUEUES & set(queues.consume_from):
        return
    _name = sender.hostname
    queue.served = QUEUES & set(queues.consume_from)
    report = judging.test()
    _usable, _tested_at = report.usable, time.monotonic()
    if not report.usable:
        # judge.bulk also carries the sweeper, so it goes on; its judging tasks claim nothing without a sandbox.
        queues.deselect(queue.INTERACTIVE)
    try:
        services.announce_judge(_name, report)
    except DatabaseError as error:
        log.error("The judge's self-test could not be noted: %s", error)
    connections.close_all()


@signals.heartbeat_sent.connect
def _alive(**_: Any) -> None:
    global _said_at, _tested_at
    now = time.monotonic()
    if not _name or now - _said_at < SAY_EVERY_S:
        return
    _said_at = now
    close_old_connections()
    try:
        if not _usable and now - _tested_at >= TEST_EVERY_S:
            report = judging.test()
            _tested_at = time.monotonic()
            services.announce_judge(_name, report)
            if report.usable:
                log.warning("The sandbox holds now: this judge stops, to be started anew")
                state.should_stop = True
        services.judge_seen(_name)
    except DatabaseError as error:
        log.warning("The judge could not say that it is alive: %s", error)
    connections.close_all()


@signals.worker_process_shutdown.connect
def _end_of_pool_process(**_: Any) -> None:
    judging.close()


@signals.worker_shutdown.connect
def _stop(**_: Any) -> None:
    if not _name:
        return
    try:
        services.judge_gone(_name)
    except DatabaseError as error:
        log.warning("The judge could not say that it stops: %s", error)
    connections.close_all()
