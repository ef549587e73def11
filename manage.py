#!/usr/bin/env python
"""Django's command line. `./dev` makes the environment that it needs."""

from __future__ import annotations

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pixelbank.settings")
    try:
        from django.core.management import execute_from_command_line

        import pixelbank  # noqa: F401
    except ModuleNotFoundError as error:
        sys.exit(f"{error.name} is not installed here. Run ./dev setup, then .venv/bin/python manage.py ...")
    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
