"""Who learns here: a visitor without an account, or the learner behind one."""

from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.contrib.auth.models import UserManager as DjangoUserManager
from django.db import models
from django.db.models.functions import Lower


class UserManager(DjangoUserManager["User"]):
    """Makes accounts from an e-mail address; addresses are kept in lower case, so they compare without regard to it."""

    use_in_migrations = False

    def _create(self, email: str, password: str | None, **fields: Any) -> User:
        if not email:
            raise ValueError("An account needs an e-mail address.")
        user = self.model(email=email.lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> User:  # type: ignore[override]
        return self._create(email, password, **fields)

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> User:  # type: ignore[override]
        return self._create(email, password, **{"is_staff": True, "is_superuser": True, **fields})

    def get_by_natural_key(self, username: str | None) -> User:
        return self.get(email=(username or "").lower())


class User(AbstractUser):
    """An account. It is named by its e-mail address alone; there is no user name to invent or forget."""

    username = None  # type: ignore[assignment]
    first_name = None  # type: ignore[assignment]
    last_name = None  # type: ignore[assignment]
    email = models.EmailField("e-mail address", unique=True)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects: ClassVar[UserManager] = UserManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                Lower("email"),
                name="learners_user_email_any_case",
                violation_error_message="An account with this e-mail address exists already.",
            )
        ]

    def __str__(self) -> str:
        return self.email

    def clean(self) -> None:
        super().clean()
        self.email = self.email.lower()

    def get_full_name(self) -> str:
        return self.email

    def get_short_name(self) -> str:
        return self.email.partition("@")[0]


class Learner(models.Model):
    """Everything that somebody does on the site hangs on a learner; an account is an optional extra.

    A visitor gets a learner at the first thing worth keeping (an answer, a submission, a run, a place in a section that
    was read for a while), never for merely opening a page.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True, related_name="learner"
    )
    preferences = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return str(self.user) if self.user_id else f"visitor {str(self.public_id)[:8]}"
