from __future__ import annotations

from pathlib import Path

import pytest

from pixelbank.core import env


def test_a_secret_may_come_from_a_mounted_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("s3cret\n")
    monkeypatch.setenv("SOME_KEY_FILE", str(tmp_path / "key"))
    assert env.text("SOME_KEY") == "s3cret"
    monkeypatch.setenv("SOME_KEY", "direct")
    assert env.text("SOME_KEY") == "direct"


@pytest.mark.parametrize(
    ("value", "meaning"), [("1", True), ("Yes", True), ("on", True), ("false", False), ("", False)]
)
def test_booleans(monkeypatch: pytest.MonkeyPatch, value: str, meaning: bool) -> None:
    monkeypatch.setenv("FLAG", value)
    assert env.boolean("FLAG") is meaning


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (lambda: env.boolean("X"), "maybe"),
        (lambda: env.integer("X", 1), "many"),
        (lambda: env.integer("X", 1, minimum=1), "0"),
        (lambda: env.choice("X", ("a", "b"), "a"), "c"),
    ],
)
def test_a_bad_value_is_one_sentence_that_names_it(monkeypatch: pytest.MonkeyPatch, read: object, value: str) -> None:
    monkeypatch.setenv("X", value)
    with pytest.raises(env.BadEnvironment, match=f"X is .*{value}"):
        read()


def test_a_secret_file_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY_FILE", "/nowhere/key")
    with pytest.raises(env.BadEnvironment, match="SOME_KEY_FILE points to /nowhere/key"):
        env.text("SOME_KEY")
