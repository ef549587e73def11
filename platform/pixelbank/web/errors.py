"""Error pages."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "web/error.html", {"status": 400}, status=400)


def permission_denied(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "web/error.html", {"status": 403}, status=403)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return render(request, "web/error.html", {"status": 403, "csrf": True}, status=403)


def page_not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return render(request, "web/error.html", {"status": 404}, status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    return render(request, "web/error.html", {"status": 500}, status=500)
