"""Writes of the learners' room."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.http import HttpRequest

from pixelbank.learners import registry
from pixelbank.learners.models import Learner
from pixelbank.learners.selectors import cookie_learner, current_learner


def ensure_learner(request: HttpRequest) -> Learner:
    """The learner of this request; a visitor's first lasting act makes one (the middleware sets its cookie)."""
    learner = current_learner(request)
    if learner is None:
        if request.user.is_authenticated:
            learner, _ = Learner.objects.get_or_create(user=request.user)
        else:
            learner = Learner.objects.create()
            request._new_learner = learner  # type: ignore[attr-defined]
        request._learner = learner  # type: ignore[attr-defined]
    return learner


@transaction.atomic
def adopt(request: HttpRequest, user: AbstractBaseUser) -> Learner:
    """At sign-in or sign-up: what the visitor did so far becomes the account's."""
    visitor = cookie_learner(request)
    own = Learner.objects.filter(user=user).first()
    if visitor is not None and own is None:
        visitor.user = user  # type: ignore[assignment]
        visitor.save(update_fields=["user"])
        own = visitor
    elif own is None:
        own = Learner.objects.create(user=user)  # type: ignore[misc]
    elif visitor is not None:
        merge(visitor, own)
    request._learner = own  # type: ignore[attr-defined]
    return own


@transaction.atomic
def merge(source: Learner, target: Learner) -> None:
    """Move all that hangs on `source` to `target` and delete `source`.

    Rooms first settle what would clash (their registered `merge`); then every remaining foreign key is moved,
    so that a room added later can't be forgotten.
    """
    for room in registry.rooms.values():
        if room.merge is not None:
            room.merge(source, target)
    for relation in Learner._meta.related_objects:
        relation.related_model._default_manager.filter(**{relation.field.name: source}).update(
            **{relation.field.name: target}
        )
    target.preferences = {**source.preferences, **target.preferences}
    target.save(update_fields=["preferences"])
    source.delete()
