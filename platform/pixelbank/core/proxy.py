"""Behind one trusted proxy the visitor's address is the one that the proxy added to X-Forwarded-For."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

Handler = Callable[[HttpRequest], HttpResponseBase]
AsyncHandler = Callable[[HttpRequest], Awaitable[HttpResponseBase]]


@sync_and_async_middleware
def trusted_proxy(get_response: Handler | AsyncHandler) -> Handler | AsyncHandler:
    """Puts that address into REMOTE_ADDR, which rate limits and the cap on live pages count by."""
    if iscoroutinefunction(get_response):

        async def asynchronous(request: HttpRequest) -> HttpResponseBase:
            _believe(request)
            return await get_response(request)  # type: ignore[no-any-return]

        return asynchronous

    def synchronous(request: HttpRequest) -> HttpResponseBase:
        _believe(request)
        return get_response(request)  # type: ignore[return-value]

    return synchronous


def _believe(request: HttpRequest) -> None:
    # The last entry is the proxy's own; those before it came from the visitor, who may write anything.
    address = request.headers.get("X-Forwarded-For", "").rpartition(",")[2].strip()
    if address:
        request.META["REMOTE_ADDR"] = address
