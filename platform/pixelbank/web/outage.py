"""When Redis is away, what can't do without it says so; everything else goes on.

Pages and queues cope by themselves. Signing in does not: it counts its tries there, and uncounted it would be open
to guessing, so it rests until Redis is back.
"""

from __future__ import annotations

import logging

import redis
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from pixelbank.web.errors import Trouble, show

log = logging.getLogger(__name__)
RESTING = Trouble(
    503,
    "This part is resting",
    "It needs a part of the site that can't be reached now. Nothing was changed, and the failure has been logged.",
    "Try again in a minute. Reading works meanwhile.",
)


class RedisOutage(MiddlewareMixin):
    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, redis.RedisError):
            return None
        log.error("%s needs Redis, which can't be reached (%s).", request.path, exception)
        return show(request, RESTING, retry_after_s=60)
