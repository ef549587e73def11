"""One request id: in the web's log line, in the answer, and in the log of the worker that did the task."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory, override_settings
from django.urls import path

from pixelbank.celery import app
from pixelbank.core.requestlog import described
from tests.conftest import STATE, Worker, run_python, wait_until


def ask_a_worker(request: HttpRequest) -> HttpResponse:
    # One of Celery's own tasks: what is tested is the way of the id, not what the task does.
    app.tasks["celery.accumulate"].apply_async([1, 2], queue="feeds")
    return HttpResponse("asked")


urlpatterns = [path("ask/", ask_a_worker)]


def events(caplog: pytest.LogCaptureFixture, name: str) -> list[dict[str, Any]]:
    return [record.msg for record in caplog.records if isinstance(record.msg, dict) and record.msg["event"] == name]


def worker_lines() -> list[dict[str, Any]]:
    log = STATE / "worker-feeds.log"
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return [json.loads(line) for line in lines if line.startswith("{")]


@pytest.mark.workers
@override_settings(ROOT_URLCONF=__name__)
def test_the_id_of_a_page_is_in_its_tasks_log(
    client: Client, celery_worker_process: Worker, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="django_structlog"):
        answer = client.get("/ask/")
    (finished,) = events(caplog, "request_finished")
    request_id = finished["request_id"]
    assert len(request_id) == 36
    assert answer["X-Request-ID"] == request_id
    with celery_worker_process("feeds", env={"LOG_FORMAT": "json"}):
        wait_until(
            lambda: (
                {"task_started", "task_succeeded"}
                <= {line["event"] for line in worker_lines() if line.get("request_id") == request_id}
            ),
            within_s=40,
            message=f"the worker's log does not hold {request_id}",
        )


@pytest.mark.django_db
def test_each_request_has_an_id_of_its_own_and_a_strangers_is_not_believed(client: Client) -> None:
    first = client.get("/healthz", headers={"x-request-id": "mine"})["X-Request-ID"]
    second = client.get("/healthz")["X-Request-ID"]
    assert len({first, second, "mine"}) == 3


@pytest.mark.parametrize(
    ("address", "logged"),
    [
        ("/problems/?q=what+i+look+for", "GET /problems/"),
        ("/accounts/password/reset/key/1-cz7kq0-0123456789abcdef/", "GET /accounts/password/"),
        ("/accounts/confirm-email/MjE:1w/", "GET /accounts/confirm-email/"),
        ("/accounts/github/login/callback/?code=secret", "GET /accounts/github/"),
    ],
)
def test_secrets_in_addresses_stay_out_of_the_log(
    client: Client, db: None, caplog: pytest.LogCaptureFixture, address: str, logged: str
) -> None:
    assert described(RequestFactory().get(address)) == logged
    with caplog.at_level(logging.INFO, logger="django_structlog"):
        client.get(address)
    lines = events(caplog, "request_started") + events(caplog, "request_finished")
    assert {line["request"] for line in lines} == {logged}
    assert not any("ip" in line for line in lines)


def test_production_logs_are_json_lines() -> None:
    code = (
        "import django, os, logging, structlog\n"
        "os.environ['DJANGO_SETTINGS_MODULE'] = 'pixelbank.settings'\n"
        "django.setup()\n"
        "logging.getLogger('pixelbank.x').info('plain %s', 'line')\n"
        "structlog.get_logger('pixelbank.y').warning('an_event', number=3)\n"
        "try:\n    1 / 0\nexcept ZeroDivisionError:\n    logging.getLogger('problems').exception('it broke')\n"
    )
    done = run_python(code, PIXELBANK_ENV="production", SECRET_KEY="k" * 60, ALLOWED_HOSTS="a.example")
    plain, event, broken = (json.loads(line) for line in done.stderr.splitlines())
    assert (plain["event"], plain["level"], plain["logger"]) == ("plain line", "info", "pixelbank.x")
    assert (event["event"], event["number"], event["level"]) == ("an_event", 3, "warning")
    assert "ZeroDivisionError" in broken["exception"]
    assert plain["timestamp"].endswith("Z")
