"""Light, dark or the system's: one cookie, so that the first byte of a page already has the right theme."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

COOKIE = "theme"
COOKIE_AGE_S = 365 * 24 * 3600
THEMES = ("light", "dark", "system")


def chosen(request: HttpRequest | None) -> str:
    """The visitor's choice; anything unknown counts as the system's."""
    value = request.COOKIES.get(COOKIE, "") if request is not None else ""
    return value if value in THEMES else "system"


@csrf_exempt  # A foreign page could change how this site looks and no more; so pages need no CSRF cookie for it.
@require_POST
def choose(request: HttpRequest) -> HttpResponse:
    """The theme switch without scripts: keep the choice and go back to the page it was made on."""
    theme = request.POST.get("theme", "")
    if theme not in THEMES:
        return HttpResponseBadRequest("Choose light, dark or system.", content_type="text/plain")
    target = request.POST.get("next", "/")
    if not url_has_allowed_host_and_scheme(target, allowed_hosts=None):
        target = "/"
    response = redirect(target)
    # Scripts read and write it too (theme.ts), hence not HttpOnly; it says nothing about anybody.
    response.set_cookie(
        COOKIE, theme, max_age=COOKIE_AGE_S, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE, httponly=False
    )
    return response
