"""For operators: is the process alive, is the site ready, and its metrics."""

from __future__ import annotations

import secrets

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST

from pixelbank.core import health
from pixelbank.core.metrics import exposition


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Alive: this process answers. It asks nobody else, so a broken database doesn't restart the web."""
    return HttpResponse("alive\n", content_type="text/plain")


@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """Ready: every part that a learner needs works; else 503, and each failing part is named."""
    report = health.report()
    parts = {name: {"ready": problem is None, "problem": problem} for name, problem in report.items()}
    ready = all(problem is None for problem in report.values())
    return JsonResponse({"ready": ready, "parts": parts}, status=200 if ready else 503)


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Prometheus text format. Needs `Authorization: Bearer METRICS_TOKEN`; without that setting it doesn't exist."""
    given = request.headers.get("Authorization", "")
    if not settings.METRICS_TOKEN or not secrets.compare_digest(
        given.encode(), f"Bearer {settings.METRICS_TOKEN}".encode()
    ):
        raise Http404
    return HttpResponse(exposition(), content_type=CONTENT_TYPE_LATEST)
