"""manage.py judge: the contract of the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from problems import packages
from problems.judge.sandbox import Sandbox

FOLDER = packages.CATALOGUE / "numericalgradient" / "submissions"
KEYS = ["file", "verdict", "reason", "passed", "total", "time_ms", "misconception", "message"]


def test_one_object_a_file(sandbox: Sandbox, capsys: pytest.CaptureFixture[str]) -> None:
    files = [FOLDER / "accepted" / "nditer.py", FOLDER / "wrong_answer" / "missing_two.py"]
    call_command("judge", "numericalgradient", *map(str, files), "--json")
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["file"] for row in rows] == [str(file) for file in files]
    assert [list(row) for row in rows] == [KEYS, KEYS]
    assert (rows[0]["verdict"], rows[0]["passed"], rows[0]["reason"]) == ("AC", rows[0]["total"], None)
    assert (rows[1]["verdict"], rows[1]["reason"]) == ("WA", "tolerance")
    assert rows[1]["passed"] < rows[1]["total"]
    assert rows[0]["time_ms"] > 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nosuchproblem", "x.py"], "There is no problem named"),
        (["../../etc", "x.py"], "There is no problem named"),
        (["numericalgradient", "/nowhere/x.py"], "cannot be read"),
        (["numericalgradient", __file__, "--seed", "-1"], "must not be negative"),
    ],
)
def test_a_mistake_is_one_sentence(arguments: list[str], said: str) -> None:
    with pytest.raises(CommandError, match=said) as caught:
        call_command("judge", *arguments)
    assert caught.value.returncode == 2


def test_any_bytes_get_a_verdict(sandbox: Sandbox, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, body in (
        ("nul.py", b"x = 1\n\0"),
        ("latin.py", b"x = '\xff'"),
        ("long.py", b"#" * 200_000),
        ("empty.py", b""),
    ):
        (tmp_path / name).write_bytes(body)
    call_command("judge", "numericalgradient", *sorted(map(str, tmp_path.iterdir())), "--json")
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["verdict"] for row in rows} == {"CE"}
    assert all(row["message"].endswith(".") for row in rows)
