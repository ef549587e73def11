"""Judge files from the command line, in the real sandbox, without web, database or broker."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from problems.judge import diagnosis, package, selftest
from problems.judge.diagnosis import Diagnosis
from problems.judge.judge import Judge
from problems.judge.verdicts import Judgement

CATALOGUE = Path(__file__).resolve().parents[2] / "catalogue"


class Command(BaseCommand):
    help = "Judge one or more FILEs against the problem NAME. Exit status 3: the sandbox is not usable here."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="name of the problem, for example numericalgradient")
        parser.add_argument("files", nargs="+", metavar="FILE", help="a Python file to judge")
        parser.add_argument("--json", action="store_true", dest="as_json", help="one JSON object per file")
        parser.add_argument("--seed", type=int, default=1, help="seed of the hidden cases (default 1)")

    def handle(self, *args: Any, name: str, files: list[str], as_json: bool, seed: int, **options: Any) -> None:
        if not package.NAME.fullmatch(name) or not (CATALOGUE / name).is_dir():
            known = ", ".join(path.name for path in package.catalogue(CATALOGUE))
            raise CommandError(f"There is no problem named {name[:40]!r}; there is {known}.", returncode=2)
        if seed < 0:
            raise CommandError("The seed must not be negative.", returncode=2)
        sources = [self._read(file) for file in files]
        try:
            problem = package.load(CATALOGUE / name)
        except package.PackageError as error:
            raise CommandError(f"The package cannot be used: {error}.", returncode=2) from None
        sandbox, report = selftest.selftest()
        if sandbox is None:
            raise CommandError(report.sentence, returncode=3)
        judge = Judge(sandbox)
        cases = problem.cases(seed)
        for file, source in zip(files, sources, strict=True):
            result = judge.judge(problem, source, cases)
            self._print(file, result, diagnosis.diagnose(problem, cases, result), as_json)

    def _read(self, file: str) -> bytes:
        try:
            return Path(file).read_bytes()
        except OSError as error:
            raise CommandError(f"{file} cannot be read: {error.strerror}.", returncode=2) from None

    def _print(self, file: str, result: Judgement, told: Diagnosis, as_json: bool) -> None:
        if as_json:
            match = told.match
            row = {
                "file": file,
                "verdict": result.verdict,
                "reason": result.reason,
                "passed": result.passed,
                "total": result.total,
                "time_ms": round(result.ms, 1),
                "misconception": match and {"id": match.misconception, "score": round(match.score, 3)},
                "message": told.message,
            }
            self.stdout.write(json.dumps(row))
        else:
            self.stdout.write(f"{file}: {result.verdict} ({result.passed} of {result.total}) {told.message}")
        sys.stdout.flush()
