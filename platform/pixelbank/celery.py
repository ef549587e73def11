"""The Celery application. Workers hold no state: the database row is the truth, a message is only a hint."""

from __future__ import annotations

import logging.config
import os
import warnings
from typing import Any

from celery import Celery, signals
from django_structlog.celery.steps import DjangoStructLogInitStep

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pixelbank.settings")

# Celery warns that pickled messages would give root away. Ours are JSON only (CELERY_ACCEPT_CONTENT).
warnings.filterwarnings("ignore", message="You're running the worker with superuser privileges")

app = Celery("pixelbank")
app.config_from_object("django.conf:settings", namespace="CELERY")
# The request id of the page that asked follows into the worker's log lines.
app.steps["worker"].add(DjangoStructLogInitStep)
app.autodiscover_tasks()


@signals.setup_logging.connect
def _use_the_sites_logging(**_: Any) -> None:
    from django.conf import settings

    logging.config.dictConfig(settings.LOGGING)
