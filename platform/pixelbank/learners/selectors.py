"""Who is asking, and what is kept about them?"""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils import timezone

from pixelbank.learners import registry
from pixelbank.learners.models import Learner, User

COOKIE_AGE_S = 365 * 24 * 3600


def current_learner(request: HttpRequest) -> Learner | None:
    """The learner of this request, or None for a visitor who has done nothing yet. Asked once a request."""
    if not hasattr(request, "_learner"):
        request._learner = _find(request)  # type: ignore[attr-defined]
    return request._learner  # type: ignore[attr-defined,no-any-return]


def cookie_learner(request: HttpRequest) -> Learner | None:
    """The anonymous learner that the visitor's signed cookie names; never one that belongs to an account."""
    value = request.get_signed_cookie(settings.LEARNER_COOKIE_NAME, default=None, max_age=COOKIE_AGE_S)
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


def overviews(learner: Learner) -> list[registry.Overview]:
    """Each room's part of the learner's page, in the order in which the rooms registered."""
    made = [room.overview(learner) for room in registry.rooms.values() if room.overview is not None]
    return [overview for overview in made if overview is not None]


def kept_rows(learner: Learner) -> list[tuple[str, int]]:
    """Everything in the database that hangs on the learner: (what, how many), found by the foreign keys themselves."""
    counts = [
        (str(relation.related_model._meta.verbose_name_plural), _hanging(relation, learner).count())
        for relation in hanging_relations()
    ]
    return sorted((name, count) for name, count in counts if count)


def hanging_relations() -> list[Any]:
    """Every foreign key to Learner, also those without a reverse name, so that no room can be forgotten."""
    return [
        relation
        for relation in Learner._meta.get_fields(include_hidden=True)
        if relation.auto_created and not relation.concrete and (relation.one_to_many or relation.one_to_one)
    ]


def _hanging(relation: Any, learner: Learner) -> Any:
    return relation.related_model._base_manager.filter(**{relation.field.name: learner})


def export(user: User | None, learner: Learner | None) -> dict[str, Any]:
    """Everything the site keeps about somebody, as JSON-able data: account, learner, and each room's part."""
    data: dict[str, Any] = {"site": settings.SITE_NAME, "exported_at": timezone.now()}
    if user is not None:
        data["account"] = _account(user)
    if learner is not None:
        data["learner"] = {
            "id": learner.public_id,
            "since": learner.created_at,
            "preferences": learner.preferences,
        }
        data["rooms"] = {name: room.export(learner) for name, room in registry.rooms.items()}
    return data


def _account(user: User) -> dict[str, Any]:
    return {
        "email": user.email,
        "joined": user.date_joined,
        "last_sign_in": user.last_login,
        "has_password": user.has_usable_password(),
        "email_addresses": list(EmailAddress.objects.filter(user=user).values("email", "verified", "primary")),
        "social_accounts": list(
            SocialAccount.objects.filter(user=user).values("provider", "uid", "date_joined", "last_login", "extra_data")
        ),
    }
