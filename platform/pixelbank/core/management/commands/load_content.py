"""Load everything that ships as files (chapters, problems, feed sources) into the database. Safe to repeat."""

from __future__ import annotations

from argparse import ArgumentParser
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from django.apps import apps
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError


class Command(BaseCommand):
    help = "Load chapters, problems and feed sources from their files. Unchanged content costs nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--migrate", action="store_true", help="bring the database up to date first")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["migrate"]:
            call_command("migrate", interactive=False, verbosity=0)
        for config in apps.get_app_configs():
            if find_spec(f"{config.name}.services") is None:
                continue
            load = getattr(import_module(f"{config.name}.services"), "load_content", None)
            if load is None:
                continue
            try:
                self.stdout.write(f"{config.label}: {load()}")
            except ValueError as error:  # content that its author got wrong: the sentence says where
                raise CommandError(f"{config.label}: {error}") from error
