"""Sign-up, sign-in, its limits, and what a stranger may learn from them."""

from __future__ import annotations

import re

import pytest
from django.core import mail
from django.test import Client

from pixelbank.learners.models import Learner, User
from tests.conftest import run_python
from tests.learners.conftest import PASSWORD

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("valkey")]


def sign_up(client: Client, email: str, password: str = PASSWORD) -> object:
    return client.post("/accounts/signup/", {"email": email, "password1": password, "password2": password})


def sign_in(client: Client, email: str, password: str = PASSWORD, **extra: str) -> object:
    return client.post("/accounts/login/", {"login": email, "password": password, **extra})


def text_of(response: object) -> str:
    """A page without what differs from one request to the next anyway."""
    page = response.content.decode()
    return re.sub(r'(csrfmiddlewaretoken" value|nonce|csp-nonce" content)="[^"]*"', "", page)


def test_sign_up_needs_an_address_and_a_password_and_signs_in(client: Client) -> None:
    response = sign_up(client, "Ada@Example.org")
    assert (response.status_code, response["Location"]) == (302, "/me/")
    user = User.objects.get()
    assert user.email == "ada@example.org"
    assert user.password.startswith("argon2")
    assert "ada@example.org" in client.get("/me/").content.decode()


@pytest.mark.parametrize("password", ["short1", "1234567890", "ada@example.org"])
def test_weak_passwords_are_refused_with_a_reason(client: Client, password: str) -> None:
    response = sign_up(client, "ada@example.org", password)
    assert response.status_code == 200
    assert 'class="errorlist"' in response.content.decode()
    assert not User.objects.exists()


def test_sign_in_and_out(client: Client, user: User) -> None:
    response = sign_in(client, "ADA@example.org")
    assert (response.status_code, response["Location"]) == (302, "/me/")
    assert client.get("/accounts/logout/").status_code == 200, "a link must not sign anybody out"
    assert client.session.get("_auth_user_id")
    assert client.post("/accounts/logout/")["Location"] == "/"
    assert not client.session.get("_auth_user_id")


def test_sign_in_returns_only_to_this_site(client: Client, user: User) -> None:
    assert sign_in(client, "ada@example.org", next="/problems/")["Location"] == "/problems/"
    client.logout()
    assert sign_in(client, "ada@example.org", next="https://evil.example/")["Location"] == "/me/"


def test_a_wrong_password_and_an_unknown_address_look_the_same(client: Client, user: User) -> None:
    wrong = text_of(sign_in(client, "ada@example.org", "not the password"))
    unknown = text_of(sign_in(Client(), "bob@example.org", "not the password"))
    assert wrong.replace("ada@", "bob@") == unknown
    assert "errorlist" in wrong or "notice bad" in wrong


def test_a_password_reset_tells_nobody_whether_an_address_has_an_account(client: Client, user: User) -> None:
    known = client.post("/accounts/password/reset/", {"email": "ada@example.org"})
    unknown = client.post("/accounts/password/reset/", {"email": "bob@example.org"})
    assert (known.status_code, known["Location"]) == (unknown.status_code, unknown["Location"])
    assert [message.to for message in mail.outbox] == [["ada@example.org"], ["bob@example.org"]]


def test_a_reset_link_from_the_mail_sets_a_new_password(client: Client, user: User) -> None:
    client.post("/accounts/password/reset/", {"email": "ada@example.org"})
    link = re.search(r"http://testserver(/accounts/password/reset/key/\S+)", mail.outbox[0].body)
    assert link
    form = client.get(link[1], follow=True)
    address = form.redirect_chain[-1][0]
    client.post(address, {"password1": "a new long secret", "password2": "a new long secret"})
    user.refresh_from_db()
    assert user.check_password("a new long secret")


def test_guessing_a_password_is_stopped_after_five_tries_even_from_other_addresses(client: Client, user: User) -> None:
    for number in range(5):
        response = Client(REMOTE_ADDR=f"192.0.2.{number}").post(
            "/accounts/login/", {"login": "ada@example.org", "password": f"guess {number}"}
        )
        assert response.status_code == 200
    # Now the right password does not help either: a guesser must not be told by success.
    sign_in(client, "ada@example.org")
    assert not client.session.get("_auth_user_id")
    # Others are not locked out with it.
    User.objects.create_user("bob@example.org", PASSWORD)
    assert sign_in(Client(), "bob@example.org").status_code == 302


def test_one_machine_cannot_try_many_addresses(client: Client) -> None:
    answers = [sign_in(client, f"user{number}@example.org", "guess").status_code for number in range(31)]
    assert answers[-1] == 429
    page = sign_in(client, "user@example.org", "guess").content.decode()
    assert "Too many tries" in page
    assert "Wait a few minutes" in page


def test_a_visitors_learner_becomes_the_new_accounts(client: Client, visitor: Learner) -> None:
    response = sign_up(client, "ada@example.org")
    assert response.cookies["learner"].value == ""
    assert Learner.objects.get() == visitor
    assert Learner.objects.get().user.email == "ada@example.org"


def test_nobody_learns_from_the_cookie_whether_an_address_is_taken(
    client: Client, user: User, visitor: Learner
) -> None:
    """A sign-up with a taken address is refused, and leaves the visitor's work where it was."""
    response = sign_up(client, "ada@example.org")
    assert "learner" not in response.cookies
    assert Learner.objects.get().user is None


def test_no_provider_no_social_sign_in(client: Client) -> None:
    page = client.get("/accounts/login/").content.decode()
    assert "GitHub" not in page
    assert client.get("/accounts/github/login/").status_code == 404


SHOW_LOGIN = """
import django, os
os.environ["DJANGO_SETTINGS_MODULE"] = "pixelbank.settings"
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from django.test import Client
page = Client().get("/accounts/login/")
assert page.status_code == 200, page.status_code
print(page.content.decode())
print("form-action:", page["Content-Security-Policy"])
start = Client(headers={"host": "localhost"}).post("/accounts/github/login/")
print("redirect:", start.status_code, start.get("Location"))
"""


def test_social_sign_in_by_configuration(tmp_path: object) -> None:
    done = run_python(
        SHOW_LOGIN,
        GITHUB_CLIENT_ID="an-id",
        GITHUB_CLIENT_SECRET="a-secret",
        DATABASE_URL=f"sqlite:///{tmp_path}/db.sqlite3",
    )
    assert done.returncode == 0, done.stderr
    assert "GitHub</a>" in done.stdout
    assert "form-action 'self' https://github.com" in done.stdout
    assert "redirect: 302 https://github.com/login/oauth/authorize?client_id=an-id" in done.stdout
    assert "Google" not in done.stdout


def test_half_a_provider_is_one_clear_sentence() -> None:
    done = run_python("import pixelbank.settings", GOOGLE_CLIENT_ID="an-id")
    assert done.returncode == 1
    assert done.stderr == "Only one of GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET is set. Set both, or neither.\n"


MANDATORY = """
import django, os, re
os.environ["DJANGO_SETTINGS_MODULE"] = "pixelbank.settings"
django.setup()
from django.conf import settings
settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
from django.core import mail
from django.core.management import call_command
call_command("migrate", verbosity=0)
from django.test import Client
from pixelbank.learners.models import Learner
client = Client()
client.post("/me/preferences/", {"time_zone": "Asia/Tokyo"})
form = {"email": "ada@example.org", "password1": "correct horse battery", "password2": "correct horse battery"}
first = client.post("/accounts/signup/", form)
assert first["Location"] == "/accounts/confirm-email/", first["Location"]
assert not client.session.get("_auth_user_id")
assert client.get(first["Location"]).status_code == 200
code = re.search(r"^([A-Z0-9-]{6,9})$", mail.outbox[0].body, re.M)[1]
client.post(first["Location"], {"code": "WRONG1"})
assert not client.session.get("_auth_user_id")
client.post(first["Location"], {"code": code})
assert client.session.get("_auth_user_id")
assert Learner.objects.get().user.email == "ada@example.org"
from django.core.cache import cache
cache.clear()  # or the second mail to one address within ten seconds is refused, whoever asks
stranger = Client().post("/accounts/signup/", form)
assert stranger["Location"] == first["Location"], "a taken address must look like a new one"
print("verified")
"""


@pytest.mark.slow
def test_with_a_mail_server_the_address_is_verified_by_a_code(tmp_path: object) -> None:
    done = run_python(MANDATORY, EMAIL_HOST="mail.invalid", DATABASE_URL=f"sqlite:///{tmp_path}/db.sqlite3")
    assert done.stdout.endswith("verified\n"), done.stderr
