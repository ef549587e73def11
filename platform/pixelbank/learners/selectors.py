"""Who is asking?"""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.http import HttpRequest

from pixelbank.learners.models import Learner

COOKIE = "learner"
COOKIE_AGE_S = 365 * 24 * 3600


def current_learner(request: HttpRequest) -> Learner | None:
    """The learner of this request, or None for a visitor who has done nothing yet. Asked once a request."""
    if not hasattr(request, "_learner"):
        request._learner = _find(request)  # type: ignore[attr-defined]
    return request._learner  # type: ignore[attr-defined,no-any-return]


def cookie_learner(request: HttpRequest) -> Learner | None:
    """The anonymous learner that the visitor's signed cookie names; never one that belongs to an account."""
    value = request.get_signed_cookie(COOKIE, default=None, max_age=COOKIE_AGE_S)
    if value is None:
        return None
    try:
        return Learner.objects.filter(public_id=value, user=None).first()
    except ValidationError:
        return None


def _find(request: HttpRequest) -> Learner | None:
    if request.user.is_authenticated:
        return Learner.objects.filter(user=request.user).first()
    return cookie_learner(request)
