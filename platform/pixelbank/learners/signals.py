"""Joins what a visitor did to the account, at the moment of signing in.

Sign-up ends with the same signal: at once, or after the address is verified. Adopting earlier would also tell a
stranger whether an address has an account, because only a new account would take the visitor's cookie away.
"""

from __future__ import annotations

import logging
from typing import Any

from django.db import IntegrityError
from django.http import HttpRequest

from pixelbank.learners.models import User
from pixelbank.learners.services import adopt

log = logging.getLogger(__name__)


def adopt_visitor(sender: object, request: HttpRequest, user: User, **_: Any) -> None:
    try:
        adopt(request, user)
    except IntegrityError:
        # Nothing was changed and the visitor's cookie stays; a room's missing merge must not lock anybody out.
        log.exception("What a visitor did could not be joined to account %s: two rows clash.", user.pk)
