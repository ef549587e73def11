"""ASGI entry: pages and the live event streams."""

from __future__ import annotations

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pixelbank.settings")
application = get_asgi_application()
