"""Reads a problem package: a folder in the Kattis problem package format 2025-09, with a ``pixelbank/`` folder in it.

Unknown keys are errors, as the format asks: a misspelt limit must not silently become the default. Every error is one
sentence that names the file.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import sys
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import yaml

from problems.judge import testdata
from problems.judge.cases import Case
from problems.judge.sandbox import LIBRARIES, MIB, Limits
from problems.judge.testdata import DataCase

FORMAT: Final = "2025-09"
MAX_TEXT: Final = 1 << 20  # bytes of one text file
ALIAS: Final = "an alias"
NAME: Final = re.compile(r"[a-z0-9]+")
PROBLEM_KEYS: Final = frozenset({
    "problem_format_version", "type", "name", "uuid", "version", "credits", "source", "license", "rights_owner",
    "embargo_until", "limits", "keywords", "languages", "allow_file_writing", "constants",
})  # fmt: skip
LIMIT_KEYS: Final = frozenset({
    "time_multipliers", "time_limit", "time_resolution", "memory", "output", "code", "compilation_time",
    "compilation_memory", "validation_time", "validation_memory", "validation_output", "validation_passes",
})  # fmt: skip
PIXELBANK_KEYS: Final = frozenset({
    "entry", "signature", "difficulty", "chapter", "summary", "prerequisites", "attempts_before_editorial",
    "total_seconds", "processes", "library",
})  # fmt: skip
FOLDERS: Final = {
    "accepted": "AC", "wrong_answer": "WA", "run_time_error": "RE", "time_limit_exceeded": "TLE",
}  # fmt: skip
SUBMISSION_KEYS: Final = frozenset({
    "language", "entrypoint", "authors", "permitted", "required", "score", "message", "model_solution",
    "use_for_time_limit",
})  # fmt: skip


class PackageError(Exception):
    """A package is not as the format asks. One sentence, with the file's name."""


@dataclass(frozen=True, slots=True)
class Known:
    """A submission that ships with the package: its file, the verdict its folder promises, and its ``message:``."""

    path: Path
    verdict: str
    message: str


@dataclass(frozen=True, slots=True)
class Package:
    """A problem as the judge and the site need it. ``digest`` names this exact version of all of its files."""

    name: str
    title: str
    uuid: uuid.UUID
    folder: Path
    entry: str
    signature: str
    difficulty: int
    chapter: str
    summary: str
    prerequisites: tuple[str, ...]
    attempts_before_editorial: int
    keywords: tuple[str, ...]
    limits: Limits
    statement: str
    editorial: str
    starter: str
    hints: tuple[str, ...]
    misconceptions: Mapping[str, Mapping[str, str]]
    submissions: tuple[Known, ...]
    data: tuple[DataCase, ...]
    digest: str
    generator: ModuleType = field(repr=False, compare=False)

    def samples(self) -> Sequence[Case]:
        """The public cases, arguments and answers included."""
        made: Sequence[Case] = self.generator.samples()
        return made

    def cases(self, seed: int) -> Sequence[Case]:
        """All cases of a submission: the samples, then the hidden ones. The package fixes some of them and draws the
        others from the seed, so that the same seed gives the same cases."""
        hidden: Sequence[Case] = self.generator.cases(seed)
        return (*self.samples(), *hidden)

    @property
    def seeds(self) -> tuple[int, ...]:
        """The fixed seeds of ``data/secret``: every judge of this package can repeat their cases."""
        return tuple(case.number for case in self.data if case.key == "seed")

    def cases_of(self, test: DataCase) -> Sequence[Case]:
        """What a test case of ``data/`` stands for: one sample, or the hidden cases of a seed. Raises PackageError."""
        if test.key == "seed":
            hidden: Sequence[Case] = self.generator.cases(test.number)
            return hidden
        samples = self.samples()
        if test.number > len(samples):
            raise PackageError(f"{self.name}/data/{test.name}.in: there is no sample {test.number}")
        return (samples[test.number - 1],)

    def feedback(self, seed: int) -> Sequence[Case]:
        """Cases of the same properties as the hidden ones, named like them, of which a learner may see everything.
        Never part of a verdict; empty where the package has none."""
        made: Sequence[Case] = self.generator.feedback(seed) if hasattr(self.generator, "feedback") else ()
        return made

    def bonus(self) -> Sequence[Case]:
        """Cases outside of the verdict, worth a star when all pass; empty where the package has none."""
        made: Sequence[Case] = self.generator.bonus() if hasattr(self.generator, "bonus") else ()
        return made

    def custom(self, values: Mapping[str, str]) -> Case:
        """A case of the learner's own input; ValueError with one sentence when it cannot be read."""
        made: Case = self.generator.custom(values)
        return made

    @property
    def custom_fields(self) -> Sequence[tuple[str, str, str]]:
        """(name, label, example) of the fields of an own input."""
        fields: Sequence[tuple[str, str, str]] = self.generator.CUSTOM_FIELDS
        return fields


def load(folder: Path) -> Package:
    """The package in ``folder``; PackageError with one sentence for anything that is not right."""
    name = folder.name
    if not NAME.fullmatch(name):
        raise PackageError(f"{name}: a package name has lowercase letters and digits only")
    problem = _mapping(folder / "problem.yaml", PROBLEM_KEYS)
    extra = _mapping(folder / "pixelbank" / "package.yaml", PIXELBANK_KEYS)
    where = f"{name}/problem.yaml"
    if problem.get("problem_format_version") != FORMAT:
        raise PackageError(f"{where}: problem_format_version must be {FORMAT}")
    if problem.get("type") != "interactive":
        raise PackageError(f"{where}: type must be interactive, the judge answers the calls of f")
    if problem.get("languages") not in (["python3"], "all", None):
        raise PackageError(f"{where}: languages must be [python3]")
    titles = problem.get("name")
    title = titles.get("en") if isinstance(titles, dict) else titles
    if not isinstance(title, str) or not title:
        raise PackageError(f"{where}: name must be a title, or a mapping with an English one under en")
    try:
        identity = uuid.UUID(_word(problem, "uuid", where))
    except (ValueError, PackageError):
        raise PackageError(f"{where}: uuid is missing or not a UUID") from None
    return Package(
        name=name,
        title=title,
        uuid=identity,
        folder=folder,
        entry=_word(extra, "entry", f"{name}/pixelbank/package.yaml"),
        signature=_word(extra, "signature", f"{name}/pixelbank/package.yaml"),
        difficulty=_whole(extra, "difficulty", 1, 5, f"{name}/pixelbank/package.yaml"),
        chapter=_word(extra, "chapter", f"{name}/pixelbank/package.yaml", ""),
        summary=_word(extra, "summary", f"{name}/pixelbank/package.yaml"),
        prerequisites=_words(extra.get("prerequisites"), f"{name}/pixelbank/package.yaml: prerequisites"),
        attempts_before_editorial=_whole(
            extra, "attempts_before_editorial", 0, 100, f"{name}/pixelbank/package.yaml", 3
        ),
        keywords=_words(problem.get("keywords"), f"{where}: keywords"),
        limits=_limits(problem.get("limits") or {}, extra, where),
        statement=_text(folder / "statement" / "problem.en.md"),
        editorial=_text(folder / "solution" / "solution.en.md"),
        starter=_text(folder / "attachments" / "starter.py"),
        hints=_hints(_text(folder / "pixelbank" / "hints.en.md")),
        misconceptions=_misconceptions(folder / "pixelbank" / "misconceptions.yaml"),
        submissions=_submissions(folder / "submissions"),
        data=_data(folder),
        digest=digest(folder),
        generator=_generator(folder / "generators" / "cases.py", name),
    )


def catalogue(folder: Path) -> list[Path]:
    """The package folders of a catalogue, by name."""
    return sorted(path.parent for path in folder.glob("*/problem.yaml"))


def digest(folder: Path) -> str:
    """SHA-256 over the names and bytes of all files of a package, caches left out."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            body = path.read_bytes()
            total.update(f"{path.relative_to(folder).as_posix()}\0{len(body)}\0".encode())
            total.update(body)
    return total.hexdigest()


def _label(path: Path) -> str:
    """A path as an author of the package would name it."""
    parts = path.parts
    start = next(
        (i for i in range(len(parts) - 1, -1, -1) if (Path(*parts[: i + 1]) / "problem.yaml").is_file()), len(parts) - 2
    )
    return "/".join(parts[start:])


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            body = file.read(MAX_TEXT + 1)
        if len(body) > MAX_TEXT:
            raise PackageError(f"{_label(path)}: this file is longer than {MAX_TEXT} bytes")
        return body.decode("utf-8")
    except FileNotFoundError:
        raise PackageError(f"{_label(path)}: this file is missing") from None
    except (UnicodeDecodeError, OSError) as error:
        raise PackageError(f"{_label(path)}: this file cannot be read as UTF-8 text ({type(error).__name__})") from None


class _Loader(yaml.SafeLoader):
    """Plain data, written out in full: an alias could stand for more than fits into memory, or for itself."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(None, None, ALIAS, self.get_event().start_mark)  # type: ignore[no-untyped-call]
        return super().compose_node(parent, index)


def _yaml(path: Path) -> Any:
    text = _text(path)
    try:
        return yaml.load(text, _Loader)  # noqa: S506 - a safe loader
    except Exception as error:  # noqa: BLE001 - the parser lets errors of int(), re and datetime through
        mark = getattr(error, "problem_mark", None)
        line = f" in line {mark.line + 1}" if mark else ""
        what = "an alias is not allowed" if getattr(error, "problem", "") is ALIAS else "this is not YAML"
        raise PackageError(f"{_label(path)}: {what}{line}") from None


def _data(folder: Path) -> tuple[DataCase, ...]:
    try:
        return testdata.read(folder)
    except testdata.DataError as error:
        raise PackageError(str(error)) from None


def _mapping(path: Path, known: frozenset[str]) -> dict[str, Any]:
    data = _yaml(path)
    if not isinstance(data, dict):
        raise PackageError(f"{_label(path)}: this must be a mapping of keys to values")
    _only(data, known, _label(path))
    return data


def _only(data: Mapping[Any, Any], known: frozenset[str], where: str) -> None:
    for key in data:
        if key not in known:
            raise PackageError(f"{where}: the key {_shown(key)} is not known; known are {', '.join(sorted(known))}")


def _shown(key: Any) -> str:
    """A key of somebody's YAML in a sentence: a number can be too long to be written, a text too long to be read."""
    return ascii(key[:60]) if isinstance(key, str) else f"of type {type(key).__name__}"


def _word(data: Mapping[str, Any], key: str, where: str, default: str | None = None) -> str:
    value = data.get(key, default)
    if not isinstance(value, str) or not (value.strip() or value == default):
        raise PackageError(f"{where}: {key} is missing or not a text")
    return value


def _words(value: Any, where: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise PackageError(f"{where} must be a list of words")
    return tuple(value)


def _whole(data: Mapping[str, Any], key: str, low: int, high: int, where: str, default: int | None = None) -> int:
    value = data.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise PackageError(f"{where}: {key} must be a whole number from {low} to {high}")
    return value


def _positive(data: Mapping[Any, Any], key: str, default: float, where: str) -> float:
    value = data.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e6:
        raise PackageError(f"{where}: {key} must be a positive number")
    return float(value)


def _limits(data: Any, extra: Mapping[str, Any], where: str) -> Limits:
    """Kattis units: seconds, MiB, and KiB for the code."""
    if not isinstance(data, dict):
        raise PackageError(f"{where}: limits must be a mapping")
    _only(data, LIMIT_KEYS, f"{where}: limits")
    plain, name = Limits(), where.split("/")[0]
    total = _positive(extra, "total_seconds", plain.total_seconds, f"{name}/pixelbank/package.yaml")
    library = extra.get("library", plain.library)
    if library not in LIBRARIES:
        raise PackageError(f"{name}/pixelbank/package.yaml: library must be one of {', '.join(LIBRARIES)}")
    return Limits(
        library=library,
        case_seconds=_positive(data, "time_limit", plain.case_seconds, where),
        load_seconds=_positive(data, "compilation_time", plain.load_seconds, where),
        total_seconds=total,
        cpu_seconds=max(1, round(total)),
        memory=round(_positive(data, "memory", plain.memory / MIB, where) * MIB),
        output=round(_positive(data, "output", plain.output / MIB, where) * MIB),
        source=round(_positive(data, "code", plain.source / 1024, where) * 1024),
        processes=round(_positive(extra, "processes", plain.processes, f"{name}/pixelbank/package.yaml")),
    )


def _hints(text: str) -> tuple[str, ...]:
    """The ladder: one hint under each second-level heading."""
    return tuple(part.strip() for part in re.split(r"^## .*$", text, flags=re.M)[1:])


def _misconceptions(path: Path) -> Mapping[str, Mapping[str, str]]:
    data = _yaml(path) or {}
    if not isinstance(data, dict):
        raise PackageError(f"{_label(path)}: this must map an id to its texts")
    for key, row in data.items():
        if not isinstance(row, dict) or not all(isinstance(v, str) for v in row.values()):
            raise PackageError(f"{_label(path)}: {_shown(key)} must map names to texts")
        if not isinstance(key, str):
            raise PackageError(f"{_label(path)}: the key {_shown(key)} must be a text, the id of a misconception")
        _only(row, frozenset({"title", "evidence", "sentence", "hint", "link"}), f"{_label(path)}: {key[:60]}")
    return data


def _submissions(folder: Path) -> tuple[Known, ...]:
    rules = _yaml(folder / "submissions.yaml") or {}
    if not isinstance(rules, dict):
        raise PackageError(f"{_label(folder / 'submissions.yaml')}: this must map files to what is expected of them")
    for name, rule in rules.items():
        if not isinstance(rule, dict):
            raise PackageError(f"{_label(folder / 'submissions.yaml')}: {_shown(name)} must be a mapping")
        _only(rule, SUBMISSION_KEYS, f"{_label(folder / 'submissions.yaml')}: {_shown(name)}")
    found = []
    for path in sorted(folder.glob("*/*.py")):
        if path.parent.name not in FOLDERS:
            raise PackageError(f"{_label(path)}: the folder must be one of {', '.join(FOLDERS)}")
        rule = rules.get(f"{path.parent.name}/{path.name}", {})
        message = _word(rule, "message", f"{_label(folder / 'submissions.yaml')}: {path.name}", "")
        found.append(Known(path, FOLDERS[path.parent.name], message))
    missing = [name for name in rules if not any(name == f"{k.path.parent.name}/{k.path.name}" for k in found)]
    if missing:
        raise PackageError(f"{_label(folder / 'submissions.yaml')}: there is no file {_shown(missing[0])}")
    if not any(known.verdict == "AC" for known in found):
        raise PackageError(f"{_label(folder)}: there is no accepted submission")
    return tuple(found)


def _generator(path: Path, name: str) -> ModuleType:
    """The package's own case generator: author code, trusted, never seen by a sandbox."""
    _text(path)
    spec = importlib.util.spec_from_file_location(f"problems_catalogue_{name}_cases", path)
    if spec is None or spec.loader is None:
        raise PackageError(f"{_label(path)}: this file cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise PackageError(f"{_label(path)}: loading it failed with {type(error).__name__}: {error}") from error
    for needed in ("samples", "cases", "custom", "CUSTOM_FIELDS"):
        if not hasattr(module, needed):
            raise PackageError(f"{_label(path)}: it must define {needed}")
    return module
