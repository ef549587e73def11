"""WSGI entry: ordinary pages behind a proxy that sends /events/ to the ASGI process (see docker/)."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pixelbank.settings")
application = get_wsgi_application()
