"""The gates pass for what we ship, and each of them fails for a package with the flaw that it looks for."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from problems import packages
from problems.judge import mutation, readability, verify
from problems.judge.package import load
from problems.judge.verify import Gate, Verifier
from tests.problems.programs import NAME

NORMAL = (packages.CATALOGUE / NAME / "submissions" / "accepted" / "copy_and_restore.py").read_text("utf-8")


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """One seed instead of many: the flaws of these packages show at once."""
    monkeypatch.setattr(verify, "ACCEPTED_SEEDS", range(1))
    monkeypatch.setattr(verify, "WRONG_SEEDS", (0,))
    monkeypatch.setattr(verify, "FLAKE_SEEDS", range(2))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the package that a test may break."""
    target = tmp_path / NAME
    shutil.copytree(packages.CATALOGUE / NAME, target, ignore=shutil.ignore_patterns("__pycache__"))
    return target


def gate(folder: Path, name: str) -> Gate:
    """The outcome of one gate alone."""
    verifier = Verifier(load(folder))
    return verifier._gate(name, getattr(verifier, f"_{name}"))


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


@pytest.mark.parametrize(
    "name", ["files", "samples", "accepted", "separability", "flake", "time", "secrecy", "readability"]
)
def test_the_package_passes(few: None, name: str) -> None:
    result = gate(packages.CATALOGUE / NAME, name)
    assert result.problems == []
    assert result.figures


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_command_passes(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("verify_problems", NAME, "--json")
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["gate"] for row in rows][:3] == ["schema", "files", "samples"]
    assert all(row["package"] == NAME and row["pass"] is True and row["problems"] == [] for row in rows)
    by_name = {row["gate"]: row["figures"] for row in rows}
    heldout = by_name["heldout"]
    assert heldout["right_first"] >= 0.95 * heldout["heldout"]
    assert heldout["false_names"] <= 0.02 * heldout["leave_one_out"]
    assert by_name["flake"]["safety_factor"] >= 3
    assert by_name["accepted"]["seeds"] == 20


def _crlf(folder: Path) -> None:
    path = folder / "statement" / "problem.en.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def _sample(folder: Path) -> None:
    replace(folder / "generators" / "cases.py", '"1.5", "7.0")', '"1.5", "6.75")')


def _wrong_is_right(folder: Path) -> None:
    (folder / "submissions" / "wrong_answer" / "missing_two.py").write_text(NORMAL, "utf-8")


def _right_is_wrong(folder: Path) -> None:
    replace(folder / "submissions" / "accepted" / "nditer.py", "2.0 * h", "h")


def _other_name(folder: Path) -> None:
    replace(
        folder / "submissions" / "submissions.yaml",
        'missing_two.py: {message: "misconception: missing-two"}',
        'missing_two.py: {message: "misconception: half-step"}',
    )


def _twins(folder: Path) -> None:
    wrong = folder / "submissions" / "wrong_answer"
    shutil.copy(wrong / "missing_two.py", wrong / "half_step.py")


def _false_style(folder: Path) -> None:
    held = folder / "pixelbank" / "heldout"
    text = (held / "summed.py").read_text("utf-8")
    for path in held.glob("*.py"):
        path.write_text(text, "utf-8")


def _short_limit(folder: Path) -> None:
    replace(folder / "problem.yaml", "time_limit: 2.0", "time_limit: 0.5")


def _told_solution(folder: Path) -> None:
    replace(folder / "pixelbank" / "hints.en.md", "## Plan\n", f"## Plan\n{NORMAL}\n")


def _hard_words(folder: Path) -> None:
    replace(
        folder / "pixelbank" / "misconceptions.yaml",
        "sentence: A Python list has no shape and does no arithmetic.",
        "sentence: Unconverted heterogeneous containers characteristically necessitate preliminary homogenisation.",
    )


def _no_heldout(folder: Path) -> None:
    (folder / "pixelbank" / "heldout" / "summed.py").unlink()


def _no_hint(folder: Path) -> None:
    replace(folder / "pixelbank" / "misconceptions.yaml", 'hint: "2"', 'hint: "9"')


def _loose(folder: Path) -> None:
    """A tolerance that the larger sensible steps only just meet."""
    replace(folder / "generators" / "cases.py", 'your default step", 1e-6, 1e-6', 'your default step", 1e-9, 1e-9')


@pytest.mark.parametrize(
    ("flaw", "name", "said"),
    [
        (_crlf, "files", "line ends must be LF"),
        (_no_heldout, "files", "summed has no held-out program"),
        (_no_hint, "files", "no hint 9"),
        (_sample, "samples", "the printed answer 6.75 is not the right one"),
        (_right_is_wrong, "accepted", "nditer.py: WA on seed 0"),
        (_wrong_is_right, "wrong", "missing_two.py: AC on seed 0, not WA"),
        (_other_name, "wrong", "missing_two.py: others name it missing-two"),
        (_false_style, "heldout", "held-out programs are named rightly"),
        (_twins, "separability", "look alike"),
        (_loose, "flake", "fail with a sensible default step"),
        (_short_limit, "time", "the limit is 0.5 s"),
        (_told_solution, "secrecy", "hint 3 holds a piece of"),
        (_hard_words, "readability", "no-list-support reads like grade"),
    ],
)
def test_a_flaw_is_found(few: None, folder: Path, flaw: Callable[[Path], None], name: str, said: str) -> None:
    flaw(folder)
    result = gate(folder, name)
    assert not result.passed
    assert said in " ".join(result.problems)


def test_an_unreadable_package_is_one_failed_gate(folder: Path) -> None:
    (folder / "problem.yaml").write_text("type: [", "utf-8")
    gates = list(verify.verify(folder))
    assert [(item.name, item.passed) for item in gates] == [("schema", False)]


def test_a_failed_gate_is_exit_status_1(
    few: None, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _crlf(folder)
    monkeypatch.setattr(packages, "CATALOGUE", folder.parent)
    monkeypatch.setattr(Verifier, "gates", lambda self, *_: iter([self._gate("files", self._files)]))
    with pytest.raises(CommandError, match="1 gate failed") as caught:
        call_command("verify_problems", NAME, "--json")
    assert caught.value.returncode == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["gate"], row["pass"]) for row in rows] == [("schema", True), ("files", False)]


def test_an_unknown_name_is_one_sentence() -> None:
    with pytest.raises(CommandError, match="There is no problem named 'nosuch'") as caught:
        call_command("verify_problems", "nosuch")
    assert caught.value.returncode == 2


# --- mutation -----------------------------------------------------------------------------------------------------


def test_mutants_are_different_programs_with_stable_names() -> None:
    made = mutation.mutants("copy_and_restore", NORMAL)
    assert len(made) > 25
    assert len({mutant.source for mutant in made}) == len({mutant.id for mutant in made}) == len(made)
    for mutant in made:
        compile(mutant.source, mutant.id, "exec")
    assert [m.id for m in mutation.mutants("copy_and_restore", NORMAL)] == [m.id for m in made]
    assert {m.id for m in mutation.mutants("other", NORMAL)}.isdisjoint(m.id for m in made)


def test_a_mutant_changes_one_thing() -> None:
    changes = {m.change: m.source for m in mutation.mutants("p", "def f(a):\n    return a + 2\n")}
    assert changes == {
        "Add becomes Sub": "def f(a):\n    return a - 2\n",
        "the right operand is dropped": "def f(a):\n    return a\n",
        "the left operand is dropped": "def f(a):\n    return 2\n",
        "2 becomes 3": "def f(a):\n    return a + 3\n",
        "2 becomes 4": "def f(a):\n    return a + 4\n",
        "2 becomes 0": "def f(a):\n    return a + 0\n",
        "line 2 is deleted": "def f(a):\n    pass\n",
    }


def test_an_unnoticed_change_is_reported_until_it_is_waived(few: None, folder: Path) -> None:
    accepted = folder / "submissions" / "accepted"
    for path in accepted.glob("*.py"):
        if path.name != "copy_and_restore.py":
            path.unlink()
    (folder / "pixelbank" / "waivers.yaml").write_text("", "utf-8")
    # without the rule, a step in the caller's array that is put back is an unnoticed change
    open_gate = gate(folder, "mutation")
    survivors = [line.split()[0] for line in open_gate.figures["survivors"]]
    assert survivors
    (folder / "pixelbank" / "waivers.yaml").write_text("".join(f"{name}: allowed\n" for name in survivors), "utf-8")
    waived = gate(folder, "mutation")
    assert (waived.passed, waived.figures["waived"], waived.figures["lowest_score"]) == (True, len(survivors), 1.0)
    (folder / "pixelbank" / "waivers.yaml").write_text(f"{'0' * 12}: stale\n", "utf-8")
    assert any("waives nothing" in problem for problem in gate(folder, "mutation").problems)


# --- readability --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "count"),
    [
        ("cat", 1),
        ("table", 2),
        ("slope", 1),
        ("moved", 1),
        ("divided", 3),
        ("function", 2),
        ("difference", 3),
        ("a", 1),
    ],
)
def test_syllables(word: str, count: int) -> None:
    assert readability.syllables(word) == count


def test_grades() -> None:
    assert readability.grade("The cat sat on the mat.") == pytest.approx(0.39 * 6 + 11.8 - 15.59)
    assert readability.grade("") == 0.0
    hard = "Institutional considerations necessitate comprehensive organisational restructuring."
    assert readability.grade(hard) > 20


def test_code_is_not_prose() -> None:
    assert readability.prose("Use `np.zeros_like(x)` or np.zeros(x.shape), then go on.") == "Use it or it, then go on."
    assert readability.grade("Write a / (2 * h) here.") < 5
