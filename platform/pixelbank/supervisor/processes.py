"""What runs under `./dev run`: names, command lines and the environment they share."""

from __future__ import annotations

import importlib.util
import os
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LONGEST_TEMPORARY_FOLDER = 60
QUEUES = ("judge", "judge.bulk", "training", "feeds")


@dataclass(frozen=True, slots=True)
class Plan:
    """One run of the site on this machine."""

    host: str
    port: int
    var: Path
    redis_url: str
    reload: bool
    sample_feed_port: int | None


def environment(plan: Plan) -> dict[str, str]:
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "pixelbank.settings",
        "PIXELBANK_VAR": str(plan.var),
        "REDIS_URL": plan.redis_url,
        "PYTHONUNBUFFERED": "1",
        # One BLAS thread a process: ranks, judge children and workers share few cores.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    # Nothing is written outside the state folder, unless Unix sockets in it would get too long an address.
    temporary = plan.var / "tmp"
    if len(str(temporary).encode()) <= LONGEST_TEMPORARY_FOLDER:
        env["TMPDIR"] = str(temporary)
    if plan.reload:
        env.setdefault("DEBUG", "true")
    if plan.sample_feed_port is not None:
        env["PIXELBANK_SAMPLE_FEED_PORT"] = str(plan.sample_feed_port)
        env["FETCH_ALLOW_LOOPBACK_PORTS"] = str(plan.sample_feed_port)
    return env


def workers(plan: Plan) -> dict[str, list[str]]:
    """Everything beside Valkey and the web, by name: command lines in starting order."""
    python = [sys.executable, "-m"]
    result = {queue: worker(queue) for queue in QUEUES}
    result["launcher"] = [*python, "training.engine.launcher", "--socket", str(plan.var / "run" / "training.sock")]
    if plan.sample_feed_port is not None:
        result["samples"] = [*python, "feeds.sampleserver", "--port", str(plan.sample_feed_port)]
    result["beat"] = [*python, "celery", "-q", "-A", "pixelbank.celery", "beat", "-l", "WARNING", "--pidfile="]
    if plan.reload:
        result["vite"] = ["npm", "run", "--silent", "build", "--", "--watch"]
    return {name: argv for name, argv in result.items() if _exists(argv)}


def web(plan: Plan) -> list[str]:
    """One ASGI process for pages and event streams; docker/ splits them behind a proxy."""
    return [
        *(sys.executable, "-m", "granian", "pixelbank.asgi:application", "--interface", "asginl"),
        *("--host", plan.host, "--port", str(plan.port), "--workers", "1", "--no-ws", "--log-level", "warning"),
        # Open event streams never end by themselves.
        *("--workers-kill-timeout", "3"),
    ]


def worker(queue: str) -> list[str]:
    concurrency = (os.cpu_count() or 1) if queue == "judge" else 1
    return [
        *(sys.executable, "-m", "celery", "-q", "-A", "pixelbank.celery", "worker", "-Q", queue),
        *("-n", f"{queue}@%h", "-c", str(concurrency), "-l", "WARNING"),
        *("--without-gossip", "--without-mingle"),
    ]


def _exists(argv: list[str]) -> bool:
    """An optional part (the sample feeds, say) may be absent from an installation."""
    return argv[1] != "-m" or importlib.util.find_spec(argv[2]) is not None
