"""The pages that belong to no single room."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.templatetags.static import static
from django.views.decorators.http import require_safe

from pixelbank.web.home import gather


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    return render(request, "web/home.html", {"home": gather(request)})


@require_safe
def about(request: HttpRequest) -> HttpResponse:
    return render(request, "web/about.html")


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    return render(request, "web/robots.txt", content_type="text/plain")


@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    """Browsers ask for this address on pages that name no icon, such as the admin's."""
    return redirect(static("web/favicon.svg"))
