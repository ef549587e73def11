"""The environment of a test session: a pytest plugin, since settings load before any conftest."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from pixelbank.supervisor.valkey import embedded

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"

# A state folder of this session's own, inside the checkout.
(ROOT / "var").mkdir(exist_ok=True)
STATE = Path(tempfile.mkdtemp(prefix="t-", dir=ROOT / "var"))
(STATE / "run").mkdir()
SERVER = embedded(STATE)

os.environ["PIXELBANK_ENV"] = "test"
os.environ["PIXELBANK_VAR"] = str(STATE)
os.environ["REDIS_URL"] = SERVER.url
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Playwright keeps an event loop in the tests' thread, and Django refuses database calls beside a loop.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
