"""Check problem packages by running their own programs: one line for each gate, with its figures."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from problems import packages
from problems.judge import package, selftest
from problems.judge.verify import Gate, verify


class Command(BaseCommand):
    help = "Verify the problems NAME... (default: all). Exit status 1 when a gate fails."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("names", nargs="*", metavar="NAME", help="name of a problem; default: the whole catalogue")
        parser.add_argument("--json", action="store_true", dest="as_json", help="one JSON object for each gate")
        parser.add_argument("--slow", action="store_true", help="also change the accepted programs (mutation testing)")
        parser.add_argument("--sandbox", action="store_true", help="also run all programs in the real sandbox")

    def handle(self, *args: Any, names: list[str], as_json: bool, slow: bool, sandbox: bool, **options: Any) -> None:
        known = {path.name: path for path in package.catalogue(packages.CATALOGUE)}
        for name in names:
            if name not in known:
                raise CommandError(
                    f"There is no problem named {name[:40]!r}; there is {', '.join(known)}.", returncode=2
                )
        jail = None
        if sandbox:
            jail, report = selftest.selftest()
            if jail is None:
                raise CommandError(report.sentence, returncode=3)
        failed = 0
        try:
            for name in names or known:
                for gate in verify(known[name], slow, jail):
                    failed += not gate.passed
                    self._print(gate, as_json)
        finally:
            if jail is not None:
                jail.close()
        if failed:
            raise CommandError(f"{failed} gate{'' if failed == 1 else 's'} failed.", returncode=1)

    def _print(self, gate: Gate, as_json: bool) -> None:
        if as_json:
            row = {
                "package": gate.package,
                "gate": gate.name,
                "pass": gate.passed,
                "figures": gate.figures,
                "problems": gate.problems,
            }
            self.stdout.write(json.dumps(row))
        else:
            figures = ", ".join(f"{key} {value}" for key, value in gate.figures.items())
            self.stdout.write(f"{'ok  ' if gate.passed else 'FAIL'} {gate.package} {gate.name}: {figures}")
            for problem in gate.problems:
                self.stdout.write(f"     {problem}")
        self.stdout.flush()
