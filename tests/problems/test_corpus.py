"""The corpus of hostile and honest submissions: a right verdict for each, its conditions hold, the judge goes on."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from problems.judge.judge import Judge
from problems.judge.package import Package
from problems.judge.warm import KINDS, SPARE
from tests.conftest import wait_until
from tests.environment import SHARED
from tests.problems.test_sandbox_attacks import jailed

FOLDER = SHARED / "corpus" / "judge"
ENTRIES: list[dict[str, Any]] = json.loads((FOLDER / "manifest.json").read_text()) if FOLDER.is_dir() else []
GOOD = Path(__file__).parents[2] / "problems/catalogue/numericalgradient/submissions/accepted/copy_and_restore.py"


@pytest.mark.skipif(not ENTRIES, reason="../shared/corpus is not beside this checkout")
@pytest.mark.parametrize("entry", ENTRIES, ids=[entry["file"] for entry in ENTRIES])
def test_submission(judge: Judge, package: Package, entry: dict[str, Any]) -> None:
    # an endless program need not be watched for long; one that fills memory needs its time on a busy machine
    seconds = 0.6 if "TLE" in entry["accept"] else package.limits.case_seconds
    package = replace(package, limits=replace(package.limits, case_seconds=seconds))
    cases = package.cases(seed=5)[:10]
    source = (FOLDER / entry["file"]).read_bytes()
    start = time.monotonic()
    result = judge.judge(package, source, cases)
    took_ms = (time.monotonic() - start) * 1000

    assert result.verdict in entry["accept"], f"{result.message}; {entry['why']}"
    printed = result.output + "".join(case.observation.output for case in result.cases if case.observation)
    for condition in entry["post"]:
        name, _, value = condition.partition(":")
        if name == "stdout_lacks":
            assert value not in printed
        elif name == "verdict_within_ms":
            assert took_ms < int(value)
        elif name == "host_lacks_file":
            assert not Path(value).exists()
        elif condition.startswith("case_ms>="):
            assert min(case.ms for case in result.cases) >= float(condition.split(">=")[1])
        elif condition not in ("no_leftover_process", "judge_alive"):
            pytest.fail(f"an unknown condition: {condition}")

    # The judge is alive, and nothing of this submission reaches the next one.
    after = judge.judge(package, GOOD.read_bytes(), cases)
    assert after.verdict == "AC", after.message
    # Empty children wait for the next submissions; nothing else may be there.
    wait_until(lambda: len(jailed(judge.sandbox)) <= KINDS * SPARE, 10, "a process was left")
