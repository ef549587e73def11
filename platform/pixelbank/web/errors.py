"""The pages for what went wrong: what happened and what to do, in the frame of the site.

They ask neither the database nor the session (`plain`), since those may be what is broken.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from structlog.contextvars import get_contextvars


@dataclass(frozen=True)
class Trouble:
    status: int
    title: str
    happened: str
    advice: str


BAD_REQUEST = Trouble(
    400,
    "This request could not be read",
    "Something in the address or in what was sent is not as the site expects it.",
    "Go back and try again; if you typed the address, check it.",
)
TOO_LARGE = Trouble(
    400,
    "That is more than the site takes",
    f"One form may carry at most {settings.DATA_UPLOAD_MAX_MEMORY_SIZE // 1024} KiB, and this one was larger. "
    "Nothing was saved.",
    "Go back, shorten what you sent, and send it again.",
)
FORBIDDEN = Trouble(
    403,
    "This page is not yours to open",
    "It belongs to somebody else, or it needs an account that may see it.",
    "Sign in with the account that it belongs to, or start again from the home page.",
)
STALE_FORM = Trouble(
    403,
    "The form was too old to be accepted",
    "Each form carries a key that proves it came from this site; this one's key was missing or has expired. "
    "Nothing was saved.",
    "Go back, reload the page and send the form again. Cookies must be allowed for this site.",
)
NOT_FOUND = Trouble(
    404,
    "There is no page here",
    "The address may be mistyped, or the page has moved or been removed.",
    "Look for it from one of these places.",
)
BROKEN = Trouble(
    500,
    "Something broke on our side",
    "It is not your fault. What was already saved is safe, and the failure has been logged.",
    "Try again in a minute.",
)
UNAVAILABLE = Trouble(
    503,
    "This part is resting",
    "Something that this page needs does not answer: the site is being updated, or has too many visitors just now.",
    "Try again in a minute. What was saved before is safe; what you have just sent may not have been saved.",
)


def show(request: HttpRequest, trouble: Trouble, *, retry_after_s: int | None = None) -> HttpResponse:
    """One error page. `retry_after_s` tells programs when to come back."""
    reference = get_contextvars().get("request_id", "") if trouble.status >= 500 else ""
    context = {"trouble": trouble, "plain": True, "reference": reference}
    response = render(request, "web/error.html", context, status=trouble.status)
    if retry_after_s is not None:
        response["Retry-After"] = str(retry_after_s)
    return response


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return show(request, TOO_LARGE if isinstance(exception, RequestDataTooBig) else BAD_REQUEST)


def permission_denied(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return show(request, FORBIDDEN)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return show(request, STALE_FORM)


def page_not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return show(request, NOT_FOUND)


def server_error(request: HttpRequest) -> HttpResponse:
    """500, or 503 when what failed is the database: then it is worth trying again soon. (Redis: see outage.py.)"""
    if isinstance(sys.exception(), OperationalError | InterfaceError):
        return show(request, UNAVAILABLE, retry_after_s=60)
    return show(request, BROKEN)
