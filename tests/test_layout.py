"""The house stands as DESIGN.md draws it; above all, `platform/` never shadows Python's own module."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import ROOT, Worker, run_python, wait_until

PLATFORM_WORKS = "import platform; assert platform.system() in {'Linux', 'Darwin'}; print(platform.system())"


def test_the_platform_folder_is_no_package() -> None:
    assert not list((ROOT / "platform").glob("*.py"))


@pytest.mark.parametrize("folder", [".", "platform", "/"])
def test_stdlib_platform_in_plain_python(folder: str) -> None:
    done = run_python(PLATFORM_WORKS, cwd=ROOT / folder)
    assert done.returncode == 0, done.stderr


def test_stdlib_platform_in_pytest() -> None:
    import platform

    assert platform.system()
    assert platform.__file__.startswith(sys.base_prefix)


def test_stdlib_platform_under_manage_py() -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "-c", PLATFORM_WORKS], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_stdlib_platform_in_the_server() -> None:
    done = run_python(f"import pixelbank.asgi, granian; {PLATFORM_WORKS}")
    assert done.returncode == 0, done.stderr


@pytest.mark.workers
def test_stdlib_platform_in_a_worker(celery_worker_process: Worker) -> None:
    from pixelbank.celery import app

    with celery_worker_process("feeds"):
        # `inspect report` is answered by the worker from its own `platform` module's facts (kombu, celery).
        answer = wait_until(lambda: app.control.inspect(timeout=1).stats())
        assert answer
    done = run_python(
        f"import pixelbank.celery; pixelbank.celery.app.loader.import_default_modules(); {PLATFORM_WORKS}"
    )
    assert done.returncode == 0, done.stderr


def test_neither_web_nor_workers_load_torch() -> None:
    code = (
        "import sys, django; import pixelbank.asgi; import pixelbank.celery as c;"
        "c.app.loader.import_default_modules();"
        "from django.urls import get_resolver; get_resolver().url_patterns;"
        "sys.exit('torch is loaded' if 'torch' in sys.modules else 0)"
    )
    done = run_python(code)
    assert done.returncode == 0, done.stderr


def test_cores_run_without_django() -> None:
    code = (
        "import sys; import problems.judge, feeds.pipeline;"
        "sys.exit('django is loaded' if 'django' in sys.modules else 0)"
    )
    done = run_python(code)
    assert done.returncode == 0, done.stderr


def test_no_path_is_patched_by_hand() -> None:
    guilty = [
        path
        for folder in ("platform", "feeds", "problems", "training", "tests")
        for path in (ROOT / folder).rglob("*.py")
        if "sys.path.insert" in (text := path.read_text(encoding="utf-8")) or "sys.path.append" in text
    ]
    # This file holds the words; a jail has no site-packages of its own, so what runs in one makes its path by hand.
    allowed = {ROOT / "tests" / "test_layout.py", ROOT / "tests" / "bench" / "judge.py"}
    assert [path for path in guilty if path not in allowed] == []
