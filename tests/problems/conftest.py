"""One sandbox and one package for all tests of this room."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from problems import packages, services
from problems.judge.judge import Judge
from problems.judge.package import Package
from problems.judge.sandbox import Sandbox, SandboxUnusable
from problems.judge.selftest import find


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """What advice is given must not depend on how busy the machine of the tests is."""
    monkeypatch.setattr(services, "ADVICE_SECONDS", 120.0)


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """The sandbox of this machine. Where none can be had, the judge runs nothing, so there is nothing to test."""
    try:
        made, _ = find()
    except SandboxUnusable as error:
        pytest.skip(str(error))
    yield made
    made.close()


@pytest.fixture(scope="session")
def judge(sandbox: Sandbox) -> Judge:
    return Judge(sandbox)


@pytest.fixture(scope="session")
def package() -> Package:
    return packages.get("numericalgradient")
