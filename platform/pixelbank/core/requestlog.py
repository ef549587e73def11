"""What a request leaves in the log, and its id in the answer, so that a visitor's report finds its lines."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django_structlog.signals import bind_extra_request_finished_metadata, bind_extra_request_metadata
from structlog.contextvars import get_contextvars

HEADER = "X-Request-ID"


def connect() -> None:
    bind_extra_request_metadata.connect(_hide_secrets, dispatch_uid="core.requestlog.hide")
    bind_extra_request_finished_metadata.connect(_hide_secrets, dispatch_uid="core.requestlog.hide")
    bind_extra_request_finished_metadata.connect(_answer_with_id, dispatch_uid="core.requestlog.id")


def described(request: HttpRequest) -> str:
    """Method and path, without what may be secret: query strings, and the keys of mails in account addresses."""
    path = request.path
    if path.startswith("/accounts/"):
        path = "/".join(path.split("/")[:3]) + "/"
    return f"{request.method} {path}"


def _hide_secrets(sender: object, request: HttpRequest, log_kwargs: dict[str, Any], **_: Any) -> None:
    log_kwargs["request"] = described(request)


def _answer_with_id(sender: object, response: HttpResponseBase, **_: Any) -> None:
    response[HEADER] = str(get_contextvars().get("request_id", ""))
