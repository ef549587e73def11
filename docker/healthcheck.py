"""Asked by the containers' health checks; needs only the standard library. Exit 0: healthy; 1: one line says why not.

python healthcheck.py http 8000              the web process answers /healthz
python healthcheck.py worker judge           the Celery worker of this container answers a ping
python healthcheck.py socket PATH            somebody listens on that Unix socket
python healthcheck.py fresh PATH SECONDS     a file whose name starts with PATH was written lately
"""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import time
from pathlib import Path


def web(port: str) -> str | None:
    # The site answers only to its own names; the first of them is as good as any. A leading dot stands for subdomains.
    host = os.environ.get("ALLOWED_HOSTS", "localhost").split(",")[0].strip().lstrip(".")
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=5)
    connection.request("GET", "/healthz", headers={"Host": host})
    status = connection.getresponse().status
    return None if status == 200 else f"/healthz answers {status}"


def worker(name: str) -> str | None:
    node = f"{name}@{socket.gethostname()}"
    argv = [sys.executable, "-m", "celery", "-A", "pixelbank.celery", "inspect", "ping", "-d", node, "-t", "10"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    return None if done.returncode == 0 else f"{node} does not answer: {done.stderr.strip()[-200:]}"


def listening(path: str) -> str | None:
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(5)
        probe.connect(path)
    return None


def fresh(path: str, seconds: str) -> str | None:
    place = Path(path)
    ages = [time.time() - found.stat().st_mtime for found in place.parent.glob(place.name + "*")]
    if not ages:
        return f"{path} does not exist"
    return None if min(ages) < float(seconds) else f"{path} was last written {min(ages):.0f} s ago"


CHECKS = {"http": web, "worker": worker, "socket": listening, "fresh": fresh}


def main(arguments: list[str]) -> int:
    check = CHECKS.get(arguments[0]) if arguments else None
    if check is None:
        print(__doc__)  # noqa: T201 - a command line's answer
        return 2
    try:
        problem = check(*arguments[1:])
    except (OSError, http.client.HTTPException, subprocess.TimeoutExpired) as error:
        problem = f"{type(error).__name__}: {error}"
    if problem:
        print(problem)  # noqa: T201 - a command line's answer
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
