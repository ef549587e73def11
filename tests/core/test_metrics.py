"""Metrics: what is counted, under which names, and who may see it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client, override_settings
from prometheus_client.parser import text_string_to_metric_families

from pixelbank.core import metrics
from tests.conftest import run_python

pytestmark = pytest.mark.django_db
BEARER = {"authorization": "Bearer the-token"}


@pytest.fixture(autouse=True)
def token() -> Iterator[None]:
    with override_settings(METRICS_TOKEN="the-token"):
        yield


def value(text: str, name: str, **labels: str) -> float:
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.name == name and sample.labels == labels:
                return sample.value
    return 0.0


def scrape(client: Client) -> str:
    return client.get("/metrics", headers=BEARER).content.decode()


@pytest.mark.parametrize(
    "headers",
    [{}, {"authorization": "Bearer"}, {"authorization": "Bearer the-toke"}, {"authorization": "Basic the-token"}],
)
def test_without_the_token_there_is_no_such_page(client: Client, headers: dict[str, str]) -> None:
    assert client.get("/metrics", headers=headers).status_code == 404


@pytest.mark.parametrize("given", ["Bearer ", "Bearer", ""])
def test_without_the_setting_nobody_gets_in(client: Client, given: str) -> None:
    with override_settings(METRICS_TOKEN=""):
        assert client.get("/metrics", headers={"authorization": given}).status_code == 404


def test_requests_are_counted_by_view_and_status(client: Client) -> None:
    labels = {"view": "web:healthz", "status": "200"}
    before = value(scrape(client), "pixelbank_requests_total", **labels)
    seconds = value(scrape(client), "pixelbank_request_seconds_count", view="web:healthz")
    client.get("/healthz")
    after = scrape(client)
    assert value(after, "pixelbank_requests_total", **labels) == before + 1
    assert value(after, "pixelbank_request_seconds_count", view="web:healthz") == seconds + 1


def test_what_visitors_type_makes_no_series(client: Client) -> None:
    """Names come from views, or a scanner would fill the memory with a series for each address it tries."""
    scrape(client)
    client.get("/no/such/page/")
    before = len(re.findall(r"^pixelbank_", scrape(client), re.M))
    for number in range(20):
        client.get(f"/no/such/page/{number}/?id={number}")
    after = scrape(client)
    assert "/no/such" not in after
    assert len(re.findall(r"^pixelbank_", after, re.M)) == before
    assert value(after, "pixelbank_requests_total", view="none", status="404") >= 20


def test_gauges_are_read_when_they_are_scraped(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics._gauges, "readers", {})
    waiting = {"judge": 3.0}
    metrics.register_gauge("pixelbank_test_waiting", "Rows that wait.", "queue", lambda: waiting)
    assert value(scrape(client), "pixelbank_test_waiting", queue="judge") == 3
    waiting["judge"] = 5.0
    assert value(scrape(client), "pixelbank_test_waiting", queue="judge") == 5


SERVE = """
import django, os
os.environ["DJANGO_SETTINGS_MODULE"] = "pixelbank.settings"
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from django.test import Client
for _ in range(TIMES):
    Client().get("/healthz")
print(Client().get("/metrics", headers={"authorization": "Bearer the-token"}).content.decode())
"""


def test_processes_of_one_server_count_together(tmp_path: Path) -> None:
    env = {
        "PROMETHEUS_MULTIPROC_DIR": str(tmp_path),
        "METRICS_TOKEN": "the-token",
        "DATABASE_URL": f"sqlite:///{tmp_path}/db",
    }
    first = run_python(SERVE.replace("TIMES", "2"), **env)
    second = run_python(SERVE.replace("TIMES", "3"), **env)
    labels = {"view": "web:healthz", "status": "200"}
    assert value(first.stdout, "pixelbank_requests_total", **labels) == 2, first.stderr
    assert value(second.stdout, "pixelbank_requests_total", **labels) == 5, second.stderr


def test_a_gauge_that_cannot_be_read_hides_nothing_else(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> dict[str, float]:
        raise ConnectionError

    monkeypatch.setattr(metrics._gauges, "readers", {})
    metrics.register_gauge("pixelbank_test_broken", "Its store is down.", "queue", broken)
    metrics.register_gauge("pixelbank_test_fine", "Its store is up.", "queue", lambda: {"judge": 1.0})
    text = scrape(client)
    assert value(text, "pixelbank_test_fine", queue="judge") == 1
    assert "pixelbank_test_broken" not in text
    assert "pixelbank_requests_total" in text
