"""The supervisor: prepare the database, start everything, restart what dies, stop all of it."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

from pixelbank.supervisor import processes, valkey
from pixelbank.supervisor.child import Child
from pixelbank.supervisor.processes import ROOT, Plan

QUICK_DEATH_S = 10.0
MOST_QUICK_DEATHS = 5
READY_WITHIN_S = 60.0


class CannotStart(Exception):
    """One sentence for the person at the terminal."""


def say(name: str, line: str) -> None:
    print(f"{name:>10} | {line}", flush=True)  # noqa: T201 - the terminal is the product here


def state_folder() -> Path:
    var = Path(os.environ.get("PIXELBANK_VAR") or ROOT / "var").resolve()
    for name in ("run", "log"):
        (var / name).mkdir(mode=0o700, parents=True, exist_ok=True)
    return var


def _empty_temporary_folder(var: Path) -> None:
    """What killed processes of an earlier start left in it is of no use to anybody."""
    shutil.rmtree(var / "tmp", ignore_errors=True)
    (var / "tmp").mkdir(mode=0o700)


async def run(host: str, port: int, *, reload: bool) -> int:
    var = state_folder()
    with _only_one(var):
        _empty_temporary_folder(var)
        return await Supervisor(var, host, _port(host, port), reload=reload).main()


@contextlib.contextmanager
def _only_one(var: Path) -> Iterator[None]:
    """Two supervisors on one state folder would fight over sockets and the database's files."""
    with (var / "run" / "supervisor.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotStart(
                "PixelBank already runs from this folder. Stop it with Ctrl-C in its terminal first, "
                "or give this one a state folder of its own: PIXELBANK_VAR=other ./dev run."
            ) from None
        yield


def _port(host: str, port: int) -> int:
    """The port, checked to be free, so that a taken one is a sentence and not a traceback of the server."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise CannotStart(
                f"Can't listen on {host} port {port}: {error.strerror}. Choose another: ./dev run --port {port + 1}."
            ) from None
        return int(probe.getsockname()[1])


class Supervisor:
    def __init__(self, var: Path, host: str, port: int, *, reload: bool) -> None:
        self.var = var
        self.children: list[Child] = []
        self.stopping = asyncio.Event()
        self.guard: subprocess.Popen[bytes]
        self.status = 0
        self.redis = None if os.environ.get("REDIS_URL") else self._embedded()
        development = os.environ.get("PIXELBANK_ENV", "development") == "development"
        self.plan = Plan(
            host=host,
            port=port,
            var=var,
            redis_url=self.redis.url if self.redis else os.environ["REDIS_URL"],
            reload=reload,
            sample_feed_port=valkey.free_port() if development else None,
        )
        self.env = processes.environment(self.plan)

    def _embedded(self) -> valkey.Embedded:
        try:
            return valkey.embedded(self.var)
        except valkey.NoServer as reason:
            raise CannotStart(str(reason)) from None

    async def main(self) -> int:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self.stopping.set)
        started = time.monotonic()
        watchers: list[asyncio.Task[None]] = []
        self.guard = _start_guard()
        try:
            await self._prepare()
            if self.redis is not None:
                watchers.append(await self._start("valkey", self.redis.argv))
                await self._wait_for_redis()
            # The web first and alone: pages are there while the workers are still loading.
            watchers.append(await self._start("web", processes.web(self.plan)))
            await self._announce(started)
            for name, argv in processes.workers(self.plan).items():
                if self.stopping.is_set():
                    break
                watchers.append(await self._start(name, argv))
            if self.plan.reload:
                watchers.append(asyncio.create_task(self._restart_on_change()))
            await self.stopping.wait()
        finally:
            self.stopping.set()
            for watcher in watchers:
                watcher.cancel()
            await self._stop_all()
            self.guard.communicate()
        return self.status

    async def _prepare(self) -> None:
        """Bring the database and the content up to date, before anything reads them."""
        (self.var / "run" / "redis_url").write_text(self.plan.redis_url, encoding="utf-8")
        argv = [sys.executable, str(ROOT / "manage.py"), "load_content", "--migrate"]
        process = await asyncio.create_subprocess_exec(*argv, env=self.env)
        if await process.wait():
            raise CannotStart("The database or the content could not be prepared (see above).")

    async def _start(self, name: str, argv: list[str]) -> asyncio.Task[None]:
        child = Child(name, argv, self.env, self.var / "log", say, self._tell_guard)
        await child.start()
        self.children.append(child)
        return asyncio.create_task(self._keep(child))

    def _tell_guard(self, line: str) -> None:
        assert self.guard.stdin is not None  # noqa: S101 - it was started with a pipe
        self.guard.stdin.write(f"{line}\n".encode())
        self.guard.stdin.flush()

    async def _keep(self, child: Child) -> None:
        """Restart the child when it dies, with a growing pause; give up and stop everything when it can't live."""
        while True:
            status = await child.wait()
            if self.stopping.is_set():
                return
            child.kill_group()
            lived = time.monotonic() - child.started_at
            child.quick_deaths = child.quick_deaths + 1 if lived < QUICK_DEATH_S else 1
            how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
            if child.quick_deaths >= MOST_QUICK_DEATHS:
                say("dev", f"{child.name} {how} for the {child.quick_deaths}th time; stopping everything.")
                say("dev", f"its output is in {self.var.name}/log/{child.name}.log")
                self.status = 1
                self.stopping.set()
                return
            pause = 0.25 * 2**child.quick_deaths
            say("dev", f"{child.name} {how}; starting it again in {pause:g} s")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.stopping.wait(), pause)
                return
            await child.start()

    async def _wait_for_redis(self) -> None:
        """Workers would retry by themselves; waiting keeps the first pages from finding nothing."""
        await _until(lambda: valkey.answers(self.plan.redis_url), READY_WITHIN_S, self.stopping)

    @property
    def address(self) -> str:
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.plan.host, self.plan.host)  # noqa: S104
        return f"http://{host}:{self.plan.port}/"

    async def _announce(self, started: float) -> None:
        if not await _until(self._web_answers, READY_WITHIN_S, self.stopping):
            if not self.stopping.is_set():
                say("dev", f"the web process does not answer yet; see {self.var.name}/log/web.log")
            return
        say("dev", f"PixelBank is at {self.address} (after {time.monotonic() - started:.1f} s). Ctrl-C stops it.")

    def _web_answers(self) -> bool:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{self.address}healthz", timeout=2):  # noqa: S310
            return True
        return False

    async def _restart_on_change(self) -> None:
        """Developer's convenience: web reloads and workers restart when Python or templates change."""
        from watchfiles import DefaultFilter, awatch

        folders = [ROOT / name for name in ("platform/pixelbank", "feeds", "problems", "training")]
        async for changes in awatch(*folders, watch_filter=DefaultFilter(), stop_event=self.stopping):
            names = sorted({Path(path).name for _, path in changes})
            if not any(name.endswith((".py", ".yaml", ".yml", ".html", ".md")) for name in names):
                continue
            say("dev", f"changed: {', '.join(names[:4])}; restarting web and workers")
            for child in self.children:
                if child.name not in {"valkey", "samples", "vite"} and child.process is not None and child.running:
                    child.started_at = 0.0  # a wanted end is not a quick death
                    child.process.send_signal(signal.SIGTERM)

    async def _stop_all(self) -> None:
        """Everything that uses Valkey first, side by side; then Valkey, so that workers can still give back tasks."""
        if self.children:
            say("dev", "stopping ...")
        await asyncio.gather(*(child.stop() for child in self.children if child.name != "valkey"))
        await asyncio.gather(*(child.stop() for child in self.children if child.name == "valkey"))
        (self.var / "run" / "redis_url").unlink(missing_ok=True)
        if self.children:
            say("dev", "all stopped.")


def _start_guard() -> subprocess.Popen[bytes]:
    """See guard.py. In a session of its own, so that Ctrl-C in the terminal is the supervisor's alone."""
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(Path(__file__).with_name("guard.py"))],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )


async def _until(condition: Callable[[], bool], within_s: float, stopping: asyncio.Event) -> bool:
    """Ask `condition` (blocking, so in a thread) until it holds; False when time is up or we are stopping."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline and not stopping.is_set():
        if await asyncio.to_thread(condition):
            return True
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), 0.1)
    return False
