from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import redis

from pixelbank.supervisor import valkey
from tests.conftest import wait_until


def test_a_short_path_gets_a_private_unix_socket(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    server = valkey.embedded(tmp_path)
    if len(str(tmp_path)) < 80:
        assert server.url == f"unix://{tmp_path}/run/valkey.sock"
    config = (tmp_path / "valkey" / "valkey.conf").read_text()
    assert "appendonly yes" in config


def test_a_long_path_gets_a_loopback_port_with_a_password(tmp_path: Path) -> None:
    var = tmp_path / ("long" * 30)
    (var / "run").mkdir(parents=True)
    server = valkey.embedded(var)
    process = subprocess.Popen(server.argv, stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: valkey.answers(server.url))
        assert redis.Redis.from_url(server.url).ping()
        without_password = "redis://" + server.url.partition("@")[2]
        with pytest.raises(redis.AuthenticationError):
            redis.Redis.from_url(without_password).ping()
    finally:
        process.terminate()
        process.wait(10)


def test_without_any_server_the_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(valkey.NoServer, match=r"Install one .* or name a running one: REDIS_URL="):
        valkey.find_server()
