"""The Dockerfile: linted by hadolint, and nothing in it that is not in the repository. Images are not built here."""

from __future__ import annotations

import fnmatch
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT

DOCKERFILE = ROOT / "docker" / "Dockerfile"
TEXT = DOCKERFILE.read_text(encoding="utf-8")
HADOLINT = Path(sys.executable).with_name("hadolint")


def lint(path: Path) -> str:
    return subprocess.run([HADOLINT, "--no-color", path], capture_output=True, text=True, check=False).stdout


def test_hadolint_has_nothing_to_say() -> None:
    assert lint(DOCKERFILE) == ""


def test_hadolint_would_say_something(tmp_path: Path) -> None:
    bad = tmp_path / "Dockerfile"
    bad.write_text("FROM python\nRUN cd /x && apt-get install curl\n")
    assert "DL3006" in lint(bad)


def sources() -> Iterator[str]:
    """Everything that a COPY takes from the repository, not from another stage."""
    for line in re.findall(r"^COPY (.+)$", TEXT, re.M):
        words = line.split()
        if not words[0].startswith("--from"):
            yield from words[:-1]


def test_everything_that_is_copied_exists_and_is_let_through() -> None:
    ignore = DOCKERFILE.with_name("Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    let_through = [line[1:] for line in ignore if line.startswith("!")]
    found = list(sources())
    assert len(found) > 8
    for source in found:
        assert (ROOT / source).exists(), source
        assert any(source == place or source.startswith(f"{place}/") for place in let_through), source


def test_nothing_secret_is_let_through() -> None:
    ignore = DOCKERFILE.with_name("Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    assert next(line for line in ignore if line and not line.startswith("#")) == "*"
    let_through = [line[1:] for line in ignore if line.startswith("!")]
    for secret in ("var", ".git", "docker/secrets", "docker/.env", ".env", ".venv", "var/secret_key"):
        assert not any(fnmatch.fnmatch(secret, place) for place in let_through), secret


@pytest.fixture
def stages() -> dict[str, str]:
    parts = re.split(r"^FROM (\S+) AS (\S+)$", TEXT, flags=re.M)
    return dict(zip(parts[2::3], parts[3::3], strict=True))


def test_every_target_of_compose_is_a_stage_that_ends_as_nobody_special(stages: dict[str, str]) -> None:
    compose = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text(encoding="utf-8"))
    targets = {service["build"]["target"] for service in compose["services"].values() if "build" in service}
    assert targets == {"site", "judge", "training", "proxy"}
    for target in targets:
        users = re.findall(r"^USER (\S+)$", stages[target], re.M)
        assert users == ["10001:10001"], target


def test_base_images_are_pinned_to_a_version() -> None:
    images = [image for image in re.findall(r"^FROM (\S+) AS", TEXT, re.M) if ":" in image]
    assert len(images) >= 3
    assert all(re.search(r":\d", image) for image in images), images


def test_only_the_training_image_has_torch(stages: dict[str, str]) -> None:
    assert {name for name, body in stages.items() if "packages-torch" in body} == {"training"}


def test_packages_come_from_the_hashed_lock(stages: dict[str, str]) -> None:
    assert "--require-hashes -r requirements/base.txt" in stages["packages"]
    assert (ROOT / "requirements/base.txt").read_text(encoding="utf-8").count("--hash=sha256:") > 100
