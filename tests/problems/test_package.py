"""The package reader: what is not as the format asks is one sentence that names the file."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from problems import packages
from problems.judge import package as reader
from problems.judge.package import Package, PackageError


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the shipped package, to be spoiled."""
    folder = tmp_path / "numericalgradient"
    shutil.copytree(packages.CATALOGUE / "numericalgradient", folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def _edit(path: Path, change: Callable[[str], str]) -> None:
    before = path.read_text("utf-8")
    after = change(before)
    assert after != before
    path.write_text(after, "utf-8")


def test_the_shipped_package_is_read(package: Package) -> None:
    assert package.title == "Numerical Gradient"
    assert package.entry == "numerical_gradient"
    assert len(package.samples()) == 3
    assert len(package.hints) >= 5
    assert sum(known.verdict == "AC" for known in package.submissions) >= 10
    assert sum(known.verdict == "WA" for known in package.submissions) >= 20
    assert package.limits.case_seconds == 2.0
    assert package.limits.memory == 256 << 20
    assert package.limits.source == 64 << 10


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("problem.yaml", "type: interactive", "type: pass-fail", "type must be interactive"),
        ("problem.yaml", "problem_format_version: 2025-09", "problem_format_version: legacy", "must be 2025-09"),
        ("problem.yaml", "  memory: 256", "  memmory: 256", "'memmory' is not known"),
        ("problem.yaml", "  memory: 256", "  memory: -1", "memory must be a positive number"),
        ("problem.yaml", "  memory: 256", "  memory: true", "memory must be a positive number"),
        ("problem.yaml", "license:", "licence:", "'licence' is not known"),
        ("problem.yaml", "languages: [python3]", "languages: [cpp]", "languages must be"),
        ("problem.yaml", "5b0d1f3e-8a53-4d43-9c0e-7a3f9f0c2b61", "not-a-uuid", "uuid is missing"),
        ("problem.yaml", "limits:", "limits: [", "not YAML"),
        ("pixelbank/package.yaml", "difficulty: 2", "difficulty: 9", "difficulty must be a whole number"),
        ("pixelbank/package.yaml", "entry: numerical_gradient", "entri: numerical_gradient", "'entri' is not known"),
        ("pixelbank/package.yaml", "entry: numerical_gradient", "", "entry is missing"),
        ("submissions/submissions.yaml", "{message:", "{massage:", "'massage' is not known"),
    ],
)
def test_a_spoiled_file_is_named(copy: Path, file: str, old: str, new: str, said: str) -> None:
    _edit(copy / file, lambda text: text.replace(old, new, 1))
    with pytest.raises(PackageError) as caught:
        reader.load(copy)
    assert said in str(caught.value)
    assert "numericalgradient" in str(caught.value)


@pytest.mark.parametrize(
    "file",
    [
        "problem.yaml",
        "statement/problem.en.md",
        "attachments/starter.py",
        "generators/cases.py",
        "pixelbank/hints.en.md",
    ],
)
def test_a_missing_file_is_named(copy: Path, file: str) -> None:
    (copy / file).unlink()
    with pytest.raises(PackageError, match="missing"):
        reader.load(copy)


def test_a_generator_that_fails_is_a_package_error(copy: Path) -> None:
    (copy / "generators" / "cases.py").write_text("1 / 0\n")
    with pytest.raises(PackageError, match="ZeroDivisionError"):
        reader.load(copy)


def test_a_wrong_folder_name_is_refused(copy: Path) -> None:
    renamed = copy.rename(copy.with_name("Numerical-Gradient"))
    with pytest.raises(PackageError, match="lowercase letters and digits"):
        reader.load(renamed)


def test_the_digest_follows_every_byte_and_name(copy: Path) -> None:
    first = reader.digest(copy)
    assert first == packages.get("numericalgradient").digest
    (copy / "__pycache__").mkdir()
    (copy / "__pycache__" / "x.pyc").write_bytes(b"x")
    assert reader.digest(copy) == first
    _edit(copy / "statement" / "problem.en.md", lambda text: text + " ")
    assert reader.digest(copy) != first


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.one_of(st.text(max_size=200), st.binary(max_size=200).map(lambda b: b.decode("latin-1"))),
    which=st.sampled_from(
        ["problem.yaml", "pixelbank/package.yaml", "submissions/submissions.yaml", "pixelbank/misconceptions.yaml"]
    ),
)
def test_no_other_exception_escapes(copy: Path, text: str, which: str) -> None:
    before = (copy / which).read_bytes()
    (copy / which).write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        with suppress(PackageError):
            assert reader.load(copy).entry
    finally:
        (copy / which).write_bytes(before)


def test_own_input_is_read_or_refused_in_one_sentence(package: Package) -> None:
    case = package.custom({"f": "np.sum(x**2)", "x": "[[1, 2], [3, 4]]", "h": "0.5"})
    assert case.expected is None
    for bad in (
        {"f": "", "x": "1"},
        {"f": "x", "x": ""},
        {"f": "x", "x": "[1, [2]]"},
        {"f": "x", "x": "null"},
        {"f": "x", "x": '{"a": 1}'},
        {"f": "x", "x": "[" * 5000},
        {"f": "x", "x": "[" + "1," * 900 + "1]"},
        {"f": "x\ny", "x": "1"},
        {"f": "x", "x": "1", "h": "small"},
        {"f": "x", "x": "1", "h": "nan"},
    ):
        with pytest.raises(ValueError, match=r"\.$"):
            package.custom(bad)


def test_the_same_seed_gives_the_same_cases_and_another_one_others(package: Package) -> None:
    def numbers(seed: int) -> dict[str, str]:
        return {case.name: repr(case.arguments[1]) for case in package.cases(seed)[3:]}

    seven, eight = numbers(7), numbers(8)
    assert numbers(7) == seven
    assert {name for name in seven if seven[name] == eight[name]} == package.generator.FIXED
