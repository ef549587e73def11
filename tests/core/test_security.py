"""Headers of every page, cookies, and what production demands before it starts."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest
from django.http import HttpResponse
from django.test import Client

from tests.conftest import ROOT, run_python
from tests.learners.test_cookie import plain_addresses

KEY = secrets.token_urlsafe(64)


def policy(response: HttpResponse) -> dict[str, list[str]]:
    parts = (part.split() for part in response["Content-Security-Policy"].split(";"))
    return {name: values for name, *values in parts}


@pytest.mark.django_db
@pytest.mark.usefixtures("valkey")
def test_every_page_has_the_headers() -> None:
    client = Client()
    seen = 0
    for address in plain_addresses():
        response = client.get(address)
        if not response.get("Content-Type", "").startswith("text/html"):
            continue
        seen += 1
        rules = policy(response)
        for directive in ("script-src", "style-src", "default-src"):
            assert rules[directive][0] == "'self'", address
            assert not {"'unsafe-inline'", "'unsafe-eval'", "*", "https:", "data:"} & set(rules[directive]), address
        assert rules["object-src"] == rules["base-uri"] == rules["frame-ancestors"] == ["'none'"], address
        assert rules["form-action"] == ["'self'"], address
        assert response["X-Content-Type-Options"] == "nosniff", address
        assert response["X-Frame-Options"] == "DENY", address
        assert response["Referrer-Policy"] == "same-origin", address
        assert response["Cross-Origin-Opener-Policy"] == "same-origin", address
        assert "camera=()" in response["Permissions-Policy"], address
    assert seen >= 8


@pytest.mark.django_db
@pytest.mark.usefixtures("valkey")
@pytest.mark.parametrize("address", ["/", "/about/", "/me/", "/accounts/login/", "/accounts/signup/", "/no/such/page/"])
def test_the_nonce_is_in_the_page_and_new_each_time(address: str) -> None:
    nonces = set()
    for _ in range(2):
        response = Client().get(address)
        (nonce,) = [value for value in policy(response)["script-src"] if value.startswith("'nonce-")]
        value = nonce.removeprefix("'nonce-").removesuffix("'")
        assert f'content="{value}"' in response.content.decode()
        nonces.add(value)
    assert len(nonces) == 2


def production(tmp_path: Path, **environment: str) -> dict[str, str]:
    ours = {"SECRET_KEY", "ALLOWED_HOSTS", "DEBUG", "DJANGO_ALLOW_ASYNC_UNSAFE"}
    return {
        **{name: value for name, value in os.environ.items() if name not in ours},
        "PIXELBANK_ENV": "production",
        "PIXELBANK_VAR": str(tmp_path),
        **environment,
    }


def check(tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env=production(tmp_path, **environment),
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_check_deploy_is_clean(tmp_path: Path) -> None:
    done = check(tmp_path, SECRET_KEY=KEY, ALLOWED_HOSTS="pixelbank.example")
    assert (done.returncode, done.stderr) == (0, "")
    assert "no issues" in done.stdout


def test_secrets_can_be_files(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(KEY + "\n")
    done = check(tmp_path, SECRET_KEY_FILE=str(tmp_path / "key"), ALLOWED_HOSTS="pixelbank.example")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"ALLOWED_HOSTS": "a.example"}, "SECRET_KEY is not set. In production it must come from the environment."),
        (
            {"ALLOWED_HOSTS": "a.example", "SECRET_KEY": "short"},
            "SECRET_KEY is shorter than 50 characters; in production it must not be guessable.",
        ),
        ({"SECRET_KEY": KEY}, "ALLOWED_HOSTS is not set. Name the host names that this site answers to."),
        (
            {"ALLOWED_HOSTS": "a.example", "SECRET_KEY": KEY, "DEBUG": "1"},
            "DEBUG is on in production: it would show secrets to visitors. Unset DEBUG.",
        ),
        (
            {"ALLOWED_HOSTS": "a.example", "SECRET_KEY_FILE": "/no/such/file"},
            "SECRET_KEY_FILE points to /no/such/file, which can't be read: No such file or directory.",
        ),
    ],
)
def test_production_does_not_start_half_set_up(tmp_path: Path, environment: dict[str, str], sentence: str) -> None:
    done = check(tmp_path, **environment)
    assert done.returncode == 1
    assert done.stderr == sentence + "\n"


PROBE = """
import django, json, os, re
os.environ["DJANGO_SETTINGS_MODULE"] = "pixelbank.settings"
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from django.test import Client
host = {"host": "pixelbank.example"}
plain = Client(headers=host).get("/me/")
client = Client(headers={**host, "x-forwarded-proto": "https"})
page = client.get("/me/", secure=SECURE)
token = re.search(r'csrfmiddlewaretoken" value="(\\w+)"', page.content.decode())[1]
kept = client.post("/me/preferences/", {"time_zone": "UTC", "csrfmiddlewaretoken": token}, secure=SECURE)
print(json.dumps({
    "plain": [plain.status_code, plain.get("Location")],
    "page": page.status_code,
    "hsts": page.get("Strict-Transport-Security"),
    "cookies": {name: dict(cookie) for name, cookie in [*page.cookies.items(), *kept.cookies.items()]},
    "foreign": Client(headers={"host": "evil.example"}).get("/", secure=True).status_code,
    "healthz": Client(headers=host).get("/healthz").status_code,
}))
"""


@pytest.mark.parametrize("behind_proxy", [False, True])
def test_production_speaks_https_only_and_binds_its_cookies_to_the_host(tmp_path: Path, behind_proxy: bool) -> None:
    env = production(
        tmp_path,
        SECRET_KEY=KEY,
        ALLOWED_HOSTS="pixelbank.example",
        BEHIND_PROXY=str(behind_proxy).lower(),
        DATABASE_URL=f"sqlite:///{tmp_path}/db.sqlite3",
    )
    done = run_python(PROBE.replace("SECURE", str(not behind_proxy)), **env)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["plain"] == [301, "https://pixelbank.example/me/"]
    assert seen["page"] == 200
    assert seen["hsts"] == "max-age=31536000; includeSubDomains; preload"
    assert {"__Host-csrf", "__Host-learner", "__Host-session"} == set(seen["cookies"])
    for name, cookie in seen["cookies"].items():
        assert cookie["secure"], name
        assert cookie["httponly"], name
        assert cookie["path"] == "/", name
        assert not cookie["domain"], name
        assert cookie["samesite"] == "Lax", name
    assert seen["foreign"] == 400
    assert seen["healthz"] == 200


def test_a_proxys_visitors_are_told_apart_and_cannot_choose_their_address() -> None:
    from django.test import RequestFactory

    from pixelbank.core.proxy import trusted_proxy

    seen = []
    middleware = trusted_proxy(lambda request: seen.append(request.META["REMOTE_ADDR"]))
    make = RequestFactory(REMOTE_ADDR="10.0.0.2").get
    middleware(make("/", headers={"x-forwarded-for": "203.0.113.9"}))
    middleware(make("/", headers={"x-forwarded-for": "127.0.0.1, 203.0.113.9"}))
    middleware(make("/"))
    assert seen == ["203.0.113.9", "203.0.113.9", "10.0.0.2"]
