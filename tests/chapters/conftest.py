from __future__ import annotations

import shutil

import pytest

from pixelbank.chapters import services
from pixelbank.core import mathlock


@pytest.fixture
def node():
    """For tests that run Temml itself; they need Node and the npm packages of a normal set-up."""
    packages = mathlock.SCRIPT.parents[3] / "node_modules" / "temml"
    if shutil.which("node") is None or not packages.exists():
        pytest.skip("Node or the npm packages are not installed; ./dev setup does both")


@pytest.fixture
def content(db):
    """The shipped chapter, in the database."""
    services.load_content()
