"""The learner's cookie, and the time zone in which the learner reads dates."""

from __future__ import annotations

import logging
import zoneinfo
from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction, markcoroutinefunction, sync_to_async
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from pixelbank.learners.selectors import COOKIE_AGE_S, current_learner

Handler = Callable[[HttpRequest], HttpResponse]
_NOTHING_TO_DO = object()
log = logging.getLogger(__name__)


class LearnerMiddleware:
    """Sets one signed, HttpOnly cookie once there is something to keep, and takes it away when the learner joined
    an account or was deleted. Visitors who bring no cookie cost no query."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Handler | Callable[[HttpRequest], Awaitable[HttpResponse]]) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponse | Awaitable[HttpResponse]:
        if iscoroutinefunction(self):
            return self._asynchronous(request)
        if _may_be_known(request):
            _use_time_zone(request)
        try:
            return _with_cookie(request, self.get_response(request))  # type: ignore[arg-type]
        finally:
            timezone.deactivate()

    async def _asynchronous(self, request: HttpRequest) -> HttpResponse:
        if _may_be_known(request):
            await sync_to_async(_use_time_zone)(request)
        try:
            return _with_cookie(request, await self.get_response(request))  # type: ignore[misc]
        finally:
            timezone.deactivate()


def _may_be_known(request: HttpRequest) -> bool:
    return settings.LEARNER_COOKIE_NAME in request.COOKIES or settings.SESSION_COOKIE_NAME in request.COOKIES


def _use_time_zone(request: HttpRequest) -> None:
    learner = current_learner(request)
    name = learner.preferences.get("time_zone") if learner is not None else None
    if name is None:
        return
    try:
        timezone.activate(zoneinfo.ZoneInfo(name))
    except zoneinfo.ZoneInfoNotFoundError:
        log.warning("The time zone %s of learner %s is not known here; UTC is shown.", name, learner)


def _with_cookie(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    learner = getattr(request, "_keep_learner", _NOTHING_TO_DO)
    name = settings.LEARNER_COOKIE_NAME
    if learner is None:
        response.delete_cookie(name, samesite="Lax")
    elif learner is not _NOTHING_TO_DO:
        response.set_signed_cookie(
            name,
            str(learner.public_id),
            max_age=COOKIE_AGE_S,
            httponly=True,
            samesite="Lax",
            secure=settings.SESSION_COOKIE_SECURE,
        )
    return response
