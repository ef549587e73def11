"""Copy the database into one file, also while the site runs."""

from __future__ import annotations

import sqlite3
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection


class Command(BaseCommand):
    help = "Copy the embedded SQLite database into FILE. For PostgreSQL use pg_dump."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        if connection.vendor != "sqlite":
            raise CommandError("This database is PostgreSQL: use pg_dump, which copies it while it runs.")
        if file.exists():
            raise CommandError(f"{file} exists already; a backup never overwrites. Give another name.")
        try:
            with connection.cursor() as cursor:
                cursor.execute("VACUUM INTO %s", [str(file)])
        except sqlite3.OperationalError as error:
            raise CommandError(f"{file} could not be written: {error}.") from error
        self.stdout.write(f"copied to {file} ({file.stat().st_size:,} bytes)")
