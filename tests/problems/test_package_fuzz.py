"""Whatever lies in a package's files, its reader answers with a package or with one sentence that names the file."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from problems import packages
from problems.judge import package as reader
from problems.judge.package import PackageError

NAME = "numericalgradient"
YAMLS = ("problem.yaml", "pixelbank/package.yaml", "submissions/submissions.yaml", "pixelbank/misconceptions.yaml")
DATA = ("data/sample/1.in", "data/sample/1.ans", "data/sample/1.interaction", "data/secret/01.in", "data/secret/01.ans")
TEXTS = ("statement/problem.en.md", "solution/solution.en.md", "attachments/starter.py", "pixelbank/hints.en.md")
HUGE = "0x" + "f" * 5000
NASTY = (
    "a: &a [1, 2]\nb: [*a, *a]\n",
    "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"k{i}: &k{i} [{', '.join(['*a' if not i else f'*k{i - 1}'] * 9)}]\n" for i in range(9)
    ),
    "&a [*a]\n", "&a {name: *a}\n", "<<: &a {b: 1}\n", "name: !!python/object/apply:os.system [id]\n",
    "!!int ''\n", "!!bool maybe\n", "!!timestamp soon\n", "!!binary '\u00e9'\n", "a: 2001-99-99\n",
    "a: 0001-01-01T00:00:00+23:59\n", f"{HUGE}: 1\n", f"limits: {{memory: {HUGE}}}\n", f"limits: {{{HUGE}: 1}}\n",
    f"version: {'9' * 6000}\n", "a: " + ":".join(["59"] * 400) + ".5\n", "? [a, b]\n: 1\n", "? {a: b}\n: 1\n",
    "[" * 3000, "- " * 3000, "{a: " * 2000, "\ufeffname: x\n", "name: \"\\ud800\"\n", "name: \0\n",
    "%YAML 9.9\n---\na: 1\n",
    "a: 1\n---\nb: 2\n", "null\n", "[]\n", "0\n", "x" * 2_000_000,
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the shipped package, with a generator that loads at once: what it does is not what is tested here."""
    target = tmp_path_factory.mktemp("fuzz") / NAME
    shutil.copytree(packages.CATALOGUE / NAME, target, ignore=shutil.ignore_patterns("__pycache__"))
    texts = target / "pixelbank" / "misconceptions.yaml"  # a few of them are read as the many are, and faster
    few = dict(list(yaml.safe_load(texts.read_text("utf-8")).items())[:3])
    texts.write_text(yaml.safe_dump(few), "utf-8")
    shutil.rmtree(target / "pixelbank" / "heldout")
    (target / "generators" / "cases.py").write_text("samples = cases = custom = len\nCUSTOM_FIELDS = ()\n")
    return target


def _read(folder: Path, name: str, body: bytes | None) -> str:
    """The reader's sentence when one file has this content (None: is missing); empty when the package is read."""
    path = folder / name
    before = path.read_bytes()
    try:
        path.unlink()
        if body is not None:
            path.write_bytes(body)
        try:
            reader.load(folder)
        except PackageError as error:
            said = str(error)
            assert said.startswith(NAME), said
            assert said.isprintable(), said
            assert len(said) < 900
            return said
        return ""
    finally:
        path.write_bytes(before)


def _yaml_of(data: object) -> bytes:
    return yaml.dump(data, allow_unicode=True).encode("utf-8", "surrogatepass")


_PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(10**300, 10**301), st.floats(), st.text(max_size=12),
    st.binary(max_size=6), st.datetimes(), st.dates(),
)  # fmt: skip
_KEYS = st.one_of(
    st.sampled_from(sorted(reader.PROBLEM_KEYS | reader.PIXELBANK_KEYS | reader.LIMIT_KEYS | reader.SUBMISSION_KEYS)),
    st.sampled_from(["en", "accepted/recursive.py", "wrong_answer/summed.py"]),
    _PLAIN,
)
_TREES = st.recursive(
    _PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=5), max_leaves=12
)
_FUZZ = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@settings(_FUZZ, max_examples=40)
@given(which=st.sampled_from(YAMLS), tree=_TREES)
def test_any_yaml(folder: Path, which: str, tree: object) -> None:
    _read(folder, which, _yaml_of(tree))


@settings(_FUZZ, max_examples=40)
@given(which=st.sampled_from(YAMLS[:2]), data=st.data())
def test_one_value_of_any_type(folder: Path, which: str, data: st.DataObject) -> None:
    right = yaml.safe_load((folder / which).read_text("utf-8"))
    key = data.draw(st.sampled_from(sorted(right)))
    _read(folder, which, _yaml_of({**right, key: data.draw(_TREES)}))


@settings(_FUZZ, max_examples=40)
@given(which=st.sampled_from(YAMLS + DATA + TEXTS), body=st.binary(max_size=300))
def test_any_bytes(folder: Path, which: str, body: bytes) -> None:
    _read(folder, which, body)


@settings(_FUZZ, max_examples=40)
@given(which=st.sampled_from(YAMLS + DATA + TEXTS), data=st.data())
def test_one_changed_byte(folder: Path, which: str, data: st.DataObject) -> None:
    body = bytearray((folder / which).read_bytes()[:20_000])
    at = data.draw(st.integers(0, len(body)))
    body[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    _read(folder, which, bytes(body))


@pytest.mark.parametrize("which", YAMLS)
def test_nasty_yaml_is_refused_quickly(folder: Path, which: str) -> None:
    harmless = {"null\n", "[]\n", "0\n", "{}\n"}  # for a file that may be empty
    for text in NASTY:
        said = _read(folder, which, text.encode("utf-8", "surrogatepass"))
        assert said or text in harmless, text[:60]
        assert which in said or text in harmless, said


def test_an_alias_is_named_with_its_line(folder: Path) -> None:
    said = _read(folder, "problem.yaml", NASTY[0].encode())
    assert said == f"{NAME}/problem.yaml: an alias is not allowed in line 2"


@pytest.mark.parametrize("which", YAMLS + TEXTS + ("data/secret/01.ans", "data/secret/01.in"))
def test_a_missing_file_is_named(folder: Path, which: str) -> None:
    said = _read(folder, which, None)
    assert which.rsplit(".", 1)[0] in said


def _cases() -> Iterator[tuple[str, str, str]]:
    secret = "data/secret/01.in"
    yield secret, '{"sead": 17}', "the key 'sead' is not known; known are sample, seed"
    yield secret, '{"sample": 1}', "the key must be 'seed' here, not 'sample'"
    yield secret, '{"seed": 1, "h": 2}', "one JSON object with one key"
    yield secret, '{"seed": 4294967296}', "seed must be a whole number from 0 to 4294967295"
    yield secret, '{"seed": 1e3}', "seed must be a whole number"
    yield secret, '{"seed": ' + "9" * 900 + "}", "seed must be a whole number"
    yield secret, "[" * 900, "one JSON object"
    yield secret, " " * 2000, "longer than 1000 bytes"
    yield "data/sample/1.in", '{"sample": 0}', "sample must be a whole number from 1"
    yield "data/secret/01.ans", "[6.0]\n", "this file must be empty"
    yield "data/sample/1.interaction", "hello\n", "each line must begin with < (validator) or > (submission)"


@pytest.mark.parametrize(("which", "text", "said"), list(_cases()))
def test_spoiled_test_data_are_named(folder: Path, which: str, text: str, said: str) -> None:
    told = _read(folder, which, text.encode())
    assert told.startswith(f"{NAME}/{which}: ")
    assert said in told


@pytest.mark.parametrize("name", ["data/secret/02.png", "data/secret/group1", "data/secret/9.ans", "data/secret/9.in"])
def test_a_file_that_does_not_belong_is_named(folder: Path, name: str) -> None:
    path = folder / name
    path.mkdir() if "." not in path.name else path.write_text('{"seed": 3}\n' if path.suffix == ".in" else "")
    try:
        with pytest.raises(PackageError, match=name):
            reader.load(folder)
    finally:
        path.rmdir() if path.is_dir() else path.unlink()


def test_a_package_without_secret_data_is_refused(folder: Path, tmp_path: Path) -> None:
    moved = (folder / "data" / "secret").rename(tmp_path / "secret")
    try:
        with pytest.raises(PackageError, match="data/secret: there must be at least one test case"):
            reader.load(folder)
    finally:
        moved.rename(folder / "data" / "secret")


def test_a_generator_that_ends_the_process_is_a_package_error(folder: Path) -> None:
    assert "SystemExit" in _read(folder, "generators/cases.py", b"raise SystemExit(0)\n")
