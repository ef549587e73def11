"""What must work for the site to be ready. Each room registers its own check; /readyz runs them all."""

from __future__ import annotations

import logging
from collections.abc import Callable

import redis as redis_py
from django.db import DatabaseError, connection

from pixelbank.core.redis import client

Check = Callable[[], str | None]
"""Returns None when all is well, else one sentence: what is missing and how to fix it."""

log = logging.getLogger(__name__)
_checks: dict[str, Check] = {}


def register(name: str, check: Check) -> None:
    _checks[name] = check


def report() -> dict[str, str | None]:
    """Every part's name with None (fine) or its sentence. A check that raises is itself a failing part."""
    result: dict[str, str | None] = {}
    for name, check in _checks.items():
        try:
            result[name] = check()
        except Exception as error:
            log.exception("The health check %s failed", name)
            result[name] = f"The check itself failed: {type(error).__name__}."
    return result


def database() -> str | None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "The database can't be reached. Check DATABASE_URL and that the server runs."
    return None


def redis() -> str | None:
    try:
        client().ping()
    except redis_py.RedisError:
        return "Redis can't be reached. Check REDIS_URL and that the server runs; live pages and queues wait."
    return None
