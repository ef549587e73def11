"""Who learns here: a visitor without an account, or the learner behind one."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models


class Learner(models.Model):
    """Everything that somebody does on the site hangs on a learner; an account is an optional extra.

    A visitor gets a learner at the first thing worth keeping (an answer, a submission, a run), never for reading.
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
