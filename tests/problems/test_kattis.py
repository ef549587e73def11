"""The package as a Kattis judge sees it: input validator, driver and output validator, as processes of their own."""

from __future__ import annotations

import importlib.util
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems import packages
from problems.judge import kattis
from problems.judge.cases import wire_arguments
from problems.judge.jail import wire
from problems.judge.judge import oracle_of
from problems.judge.lines import LineSandbox, received, sent
from problems.judge.package import Package, load
from problems.judge.testdata import DataCase
from problems.judge.verify import Verifier

FOLDER = packages.CATALOGUE / "numericalgradient"
SUBMISSIONS = FOLDER / "submissions"


def _module(path: Path) -> Any:
    """A program of the package, loaded but not run."""
    spec = importlib.util.spec_from_file_location(f"kattis_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ('{"seed": 0}\n', True),
        ('{"seed": 4294967295}\n', True),
        ('{"sample": 3}\n', True),
        ('{"sample": 0}\n', False),
        ('{"seed": 4294967296}\n', False),
        ('{"seed": -1}\n', False),
        ('{"seed": 017}\n', False),
        ('{"seed": true}\n', False),
        ('{"seed": 17}', False),
        ('{"seed": 17}\n\n', False),
        ('{"seed": 17, "seed": 18}\n', False),
        ("", False),
        ("\0" * 5000, False),
    ],
)
def test_the_input_validator_accepts_the_schema_only(tmp_path: Path, text: str, valid: bool) -> None:
    path = tmp_path / "1.in"
    path.write_text(text)
    assert kattis.valid_input(FOLDER, path) is valid


@pytest.mark.parametrize(
    ("program", "test", "status", "driver", "said"),
    [
        ("accepted/fresh_copies.py", "sample/2", 42, 0, "AC"),
        ("accepted/recursive.py", "secret/01", 42, 0, "AC"),
        ("wrong_answer/forward_difference.py", "secret/02", 43, 0, "misconception: forward-difference"),
        ("run_time_error/h_passed_to_f.py", "secret/01", 43, 1, "misconception: h-passed-to-f"),
    ],
)
def test_driver_and_validator_give_the_verdict(program: str, test: str, status: int, driver: int, said: str) -> None:
    played = kattis.play(FOLDER, SUBMISSIONS / program, FOLDER / "data" / f"{test}.in")
    assert (played.validator, played.driver) == (status, driver), played.message
    assert said in played.message


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def numerical_gradient(f, x)\n", "CE: SyntaxError in line 1"),
        ("1 / 0\n", "RE: ZeroDivisionError in line 1"),
        ("print('hello')\n", "CE: There is no function named numerical_gradient"),
        ("import os\nos._exit(0)\n", "RE: The process of your code ended"),
        ("import sys\nsys.exit(0)\n", "RE: SystemExit in line 2"),
        ("def numerical_gradient(f, x, h=1):\n    import os\n    os._exit(0)\n", "RE: The process of your code ended"),
    ],
)
def test_a_program_that_does_not_even_run_is_wrong(tmp_path: Path, source: str, said: str) -> None:
    program = tmp_path / "mine.py"
    program.write_text(source)
    played = kattis.play(FOLDER, program, FOLDER / "data" / "sample" / "1.in")
    assert played.validator == 43
    assert played.message.startswith(said)


def test_the_kattis_gate_passes(package: Package) -> None:
    verifier = Verifier(package)
    assert verifier._gate("kattis", verifier._kattis).problems == []


def test_the_kattis_gate_sees_a_lenient_validator_and_a_wrong_verdict(tmp_path: Path) -> None:
    folder = tmp_path / "numericalgradient"
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "input_validators" / "schema.py").write_text("raise SystemExit(42)\n")
    (folder / "output_validator" / "validate.py").write_text("raise SystemExit(42)\n")
    verifier = Verifier(load(folder))
    problems = "\n".join(verifier._gate("kattis", verifier._kattis).problems)
    assert "data/invalid_input/two_keys.in: the input validators must reject this" in problems
    assert "exit status 42, not 43" in problems
    assert "judgemessage.txt does not say 'misconception: " in problems


def test_each_input_reaches_the_submission_and_each_value_comes_back(package: Package) -> None:
    driver = _module(FOLDER / "include" / "python3" / "main.py")
    for case in package.cases(3):
        for value in wire_arguments(case)[1:]:
            live = driver.build(json.loads(json.dumps(sent(value))), None)
            assert wire.describe(live) == value
            back = json.loads(json.dumps(driver.describe(live)))
            assert received(back)._replace(layout="c") == value._replace(layout="c")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["<f8", "<c16"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["array", "scalar", "shape", "data", "list", "tuple", "complex", "huge", "other"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
_LINE = st.one_of(
    st.binary(max_size=40),
    st.builds(
        lambda k, v: json.dumps({k: v}).encode(), st.sampled_from(["call", "returned", "raised", "failed"]), _JSON
    ),
    st.builds(lambda v: json.dumps({"returned": [v, [None, v]]}).encode(), _JSON),
    st.builds(lambda v: json.dumps({"call": [v]}).encode(), _JSON),
    st.just(b"[" * 200_000),
)


@settings(deadline=None, max_examples=150)
@given(lines=st.lists(_LINE, max_size=4))
def test_whatever_a_driver_says_is_an_observation(package: Package, lines: list[bytes]) -> None:
    case = package.cases(1)[2]
    child = LineSandbox(io.BytesIO(b"".join(line + b"\n" for line in lines)), io.BytesIO()).start(package.limits)
    seen = child.run(wire_arguments(case), oracle_of(case))
    assert seen.status in ("returned", "raised", "malformed", "died")
    assert (seen.value is not None) is (seen.status == "returned")
    loaded = LineSandbox(io.BytesIO(b"".join(lines)), io.BytesIO()).start(package.limits).load("f", "")
    assert loaded.stage in ("compile", "import", "missing", "malformed", "died")


def test_a_number_keeps_its_kind() -> None:
    assert received(1) == wire.describe(1)
    assert received({"complex": [1.0, 2.0]}) == wire.describe(1 + 2j)


def test_the_test_data_are_what_the_generator_writes(package: Package) -> None:
    made = dict(_module(FOLDER / "generators" / "write_data.py").files(package))
    for name, text in made.items():
        assert (FOLDER / "data" / name).read_text("utf-8") == text, name
    there = {
        p.relative_to(FOLDER / "data").as_posix() for g in ("sample", "secret") for p in (FOLDER / "data" / g).iterdir()
    }
    assert there == made.keys()


def test_fixed_seeds_and_samples_are_read() -> None:
    package = load(FOLDER)
    assert package.seeds == (20251130, 17, 42)
    assert [case.name for case in package.data][:3] == ["sample/1", "sample/2", "sample/3"]
    assert package.cases_of(DataCase("sample/2", "sample", 2))[0].name == "sample 2"
    assert len(package.cases_of(package.data[-1])) == 25
