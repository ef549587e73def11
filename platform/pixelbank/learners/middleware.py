"""Gives a new anonymous learner its cookie."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.http import HttpRequest, HttpResponse

from pixelbank.learners.selectors import COOKIE, COOKIE_AGE_S

Handler = Callable[[HttpRequest], HttpResponse]


class LearnerMiddleware:
    """One signed, HttpOnly cookie, set only once there is something to keep."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Handler | Callable[[HttpRequest], Awaitable[HttpResponse]]) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponse | Awaitable[HttpResponse]:
        if iscoroutinefunction(self):
            return self._asynchronous(request)
        return _with_cookie(request, self.get_response(request))  # type: ignore[arg-type]

    async def _asynchronous(self, request: HttpRequest) -> HttpResponse:
        return _with_cookie(request, await self.get_response(request))  # type: ignore[misc]


def _with_cookie(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    learner = getattr(request, "_new_learner", None)
    if learner is not None:
        response.set_signed_cookie(
            COOKIE,
            str(learner.public_id),
            max_age=COOKIE_AGE_S,
            httponly=True,
            samesite="Lax",
            secure=settings.SESSION_COOKIE_SECURE,
        )
    return response
