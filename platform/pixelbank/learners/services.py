"""Writes of the learners' room."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import logout
from django.db import transaction
from django.http import HttpRequest

from pixelbank.learners import registry
from pixelbank.learners.models import Learner, User
from pixelbank.learners.selectors import cookie_learner, current_learner, hanging_relations


def ensure_learner(request: HttpRequest) -> Learner:
    """The learner of this request; a visitor's first lasting act makes one.

    The middleware then sets the visitor's cookie, and renews it at each later lasting act.
    """
    learner = current_learner(request)
    if learner is None:
        if request.user.is_authenticated:
            learner, _ = Learner.objects.get_or_create(user=request.user)
        else:
            learner = Learner.objects.create()
        request._learner = learner  # type: ignore[attr-defined]
    if learner.user_id is None:
        request._keep_learner = learner  # type: ignore[attr-defined]
    return learner


@transaction.atomic
def adopt(request: HttpRequest, user: User) -> None:
    """At sign-in or sign-up: what the visitor did so far becomes the account's, and the visitor's cookie goes."""
    visitor = cookie_learner(request)
    if visitor is None:
        return
    own = Learner.objects.filter(user=user).first()
    if own is None:
        visitor.user = user
        visitor.save(update_fields=["user"])
        own = visitor
    else:
        merge(visitor, own)
    request._learner = own  # type: ignore[attr-defined]
    request._keep_learner = None  # type: ignore[attr-defined]


@transaction.atomic
def merge(source: Learner, target: Learner) -> None:
    """Move all that hangs on `source` to `target` and delete `source`.

    Rooms first settle what would clash (their registered `merge`); then every remaining foreign key is moved,
    so that a room added later can't be forgotten. A clash that no room settles raises IntegrityError and
    changes nothing.
    """
    for room in registry.rooms.values():
        if room.merge is not None:
            room.merge(source, target)
    for relation in hanging_relations():
        name = relation.field.name
        relation.related_model._base_manager.filter(**{name: source}).update(**{name: target})
    target.preferences = {**source.preferences, **target.preferences}
    target.save(update_fields=["preferences"])
    source.delete()


def prefer(request: HttpRequest, **preferences: Any) -> Learner:
    """Keep preferences; those not named stay as they are."""
    learner = ensure_learner(request)
    learner.preferences = {**learner.preferences, **preferences}
    learner.save(update_fields=["preferences"])
    return learner


def forget(request: HttpRequest) -> None:
    """Delete the asking learner, the account if there is one, and every row that hangs on either; then sign out."""
    learner = current_learner(request)
    with transaction.atomic():
        if learner is not None:
            learner.delete()
        if request.user.is_authenticated:
            User.objects.filter(pk=request.user.pk).delete()
    logout(request)
    request._learner = None  # type: ignore[attr-defined]
    request._keep_learner = None  # type: ignore[attr-defined]
