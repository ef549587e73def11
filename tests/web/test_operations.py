"""For operators: alive, ready, and each part that is not."""

from __future__ import annotations

import pytest
from django.test import Client, override_settings

from pixelbank.core import health
from pixelbank.core import redis as core_redis

pytestmark = pytest.mark.usefixtures("valkey")


@pytest.fixture
def own_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_checks", {"database": health.database, "redis": health.redis})


@pytest.mark.django_db
def test_ready_when_every_part_is(client: Client, own_checks: None) -> None:
    response = client.get("/readyz")
    assert response.status_code == 200
    fine = {"ready": True, "problem": None}
    assert response.json() == {"ready": True, "parts": {"database": fine, "redis": fine}}
    assert "no-store" in response["Cache-Control"]


@pytest.mark.django_db
def test_each_failing_part_is_named_and_the_others_stay_fine(client: Client, own_checks: None) -> None:
    health.register("judge", lambda: "No sandbox here: install bubblewrap.")
    response = client.get("/readyz")
    assert response.status_code == 503
    parts = response.json()["parts"]
    assert parts["judge"] == {"ready": False, "problem": "No sandbox here: install bubblewrap."}
    assert parts["database"]["ready"]
    assert parts["redis"]["ready"]


@pytest.mark.django_db
def test_a_check_that_breaks_is_a_failing_part(client: Client, own_checks: None) -> None:
    def broken() -> str | None:
        raise RuntimeError("secret detail")

    health.register("launcher", broken)
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["parts"]["launcher"]["problem"] == "The check itself failed: RuntimeError."
    assert "secret detail" not in response.content.decode()


@pytest.mark.django_db
def test_without_redis_it_is_alive_but_not_ready(client: Client, own_checks: None, tmp_path: object) -> None:
    core_redis.client.cache_clear()
    try:
        with override_settings(REDIS_URL=f"unix://{tmp_path}/nobody.sock"):
            response = client.get("/readyz")
            assert client.get("/healthz").status_code == 200
    finally:
        core_redis.client.cache_clear()
    assert response.status_code == 503
    assert response.json()["parts"]["redis"]["problem"].startswith("Redis can't be reached.")
    assert response.json()["parts"]["database"]["ready"]


def test_without_a_database_it_is_alive_but_not_ready(own_checks: None) -> None:
    """No `db` fixture here: pytest-django then refuses every database call, as a broken database would."""
    from django.db import DatabaseError, connection

    client = Client()
    assert client.get("/healthz").content == b"alive\n"
    with pytest.MonkeyPatch.context() as patch:

        def refuse(*_: object) -> None:
            raise DatabaseError("connection refused at secret-host")

        patch.setattr(connection, "cursor", refuse)
        response = client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["parts"]["database"]["problem"].startswith("The database can't be reached.")
    assert "secret-host" not in response.content.decode()
    assert response.json()["parts"]["redis"]["ready"]


def test_operators_pages_only_read() -> None:
    for address in ("/healthz", "/readyz", "/metrics"):
        assert Client().post(address).status_code == 405
