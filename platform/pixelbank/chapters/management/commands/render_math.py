from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from pixelbank.core import mathlock
from pixelbank.core.markdown import MarkdownError


class Command(BaseCommand):
    help = "Render every formula of the shipped texts to MathML and write the lock file (or --check it)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="change nothing; fail if the file is out of date")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            formulas = mathlock.all_formulas()
            mathml = mathlock.render(formulas)
        except (MarkdownError, mathlock.MathError) as error:
            raise CommandError(str(error)) from None
        entries = {
            mathlock.key(formula): {
                "tex": formula[0],
                "display": formula[1],
                "mathml": mathml[mathlock.key(formula)],
            }
            for formula in formulas
        }
        text = json.dumps(entries, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
        before = mathlock.LOCK.read_text(encoding="utf-8") if mathlock.LOCK.exists() else ""
        if options["check"]:
            if text != before:
                raise CommandError(f"{mathlock.LOCK.name} does not match the texts; run: python manage.py render_math")
            self.stdout.write(f"{len(entries)} formulas, up to date")
            return
        if text != before:
            mathlock.LOCK.write_text(text, encoding="utf-8")
        self.stdout.write(f"{len(entries)} formulas written to {mathlock.LOCK.name}")
