"""The corpus of hostile and honest submissions: a right verdict for each, its conditions hold, the judge goes on."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from problems.judge.judge import Judge
from problems.judge.package import Package
from tests.environment import SHARED

FOLDER = SHARED / "corpus" / "judge"
ENTRIES: list[dict[str, Any]] = json.loads((FOLDER / "manifest.json").read_text()) if FOLDER.is_dir() else []
GOOD = Path(__file__).parents[2] / "problems/catalogue/numericalgradient/submissions/accepted/copy_and_restore.py"


def _descendants() -> set[int]:
    """Processes below this one whose command runs the jail's runner with a learner's code in it."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found, todo = set(), [os.getpid()]
    while todo:
        for child in children.get(todo.pop(), []):
            found.add(child)
            todo.append(child)
    return found


@pytest.mark.skipif(not ENTRIES, reason="../shared/corpus is not beside this checkout")
@pytest.mark.parametrize("entry", ENTRIES, ids=[entry["file"] for entry in ENTRIES])
def test_submission(judge: Judge, package: Package, entry: dict[str, Any]) -> None:
    cases = package.cases(seed=5)
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
    if "no_leftover_process" in entry["post"]:
        before = _descendants()
        judge.judge(package, source, cases)
        judge.judge(package, GOOD.read_bytes(), cases)
        deadline = time.monotonic() + 5
        while len(_descendants()) > len(before) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(_descendants()) <= len(before)
