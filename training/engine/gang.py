"""One run: fork the ranks, gather their events, and end them all, whatever happens.

The supervisor is the process that calls `run`. Each rank has a pipe to it; the end of that pipe is the end of the rank.
A rank dies with its supervisor (PDEATHSIG), and the supervisor leaves no rank behind (`Gang.kill` in `finally`).
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import selectors
import signal
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

from training.engine import parity, rank
from training.engine.config import ConfigError, RunConfig
from training.engine.data import baselines, corpus
from training.engine.devices import Placement, place
from training.engine.spans import now

Event = dict[str, Any]
Emit = Callable[[list[Event]], None]

EXIT_GRACE_S = 1.0  # a rank that has reported everything gets this long to leave by itself
PR_SET_PDEATHSIG = 1


class RunFailed(Exception):
    """The run ended before its last step; the message says why, in one sentence."""


class RunCancelled(Exception):
    """Somebody asked the run to stop, or nobody listens to it any more."""


class Gang:
    """The rank processes of one config. `control` is a file descriptor whose readability ends the run."""

    def __init__(self, config: RunConfig, placement: Placement, run_dir: Path, control: int | None) -> None:
        self.config = config
        self._placement = placement
        self._run_dir = run_dir
        self._control = control
        self._alive: dict[int, int] = {}  # rank -> process id, until waited for
        self._group = 0
        self._pipes = selectors.DefaultSelector()
        if control is not None:
            self._pipes.register(control, selectors.EVENT_READ, None)

    def start(self, store: Path, *, is_twin: bool = False) -> None:
        """Fork the ranks into a process group of their own."""
        sys.stdout.flush()
        sys.stderr.flush()
        supervisor = os.getpid()
        for number in range(self.config.ranks):
            read_end, write_end = os.pipe()
            pid = os.fork()
            if pid == 0:
                _rank_process(
                    supervisor,
                    lambda n=number, w=write_end: rank.main(  # type: ignore[misc]
                        rank.RankRun(self.config, self._placement, n, self._run_dir, w),
                        self._placement.backend,
                        store,
                        is_twin=is_twin,
                    ),
                    write_end,
                )
            os.close(write_end)
            self._group = self._group or pid
            os.setpgid(pid, self._group)
            self._alive[number] = pid
            self._pipes.register(read_end, selectors.EVENT_READ, number)

    def messages(self, deadline: float) -> Iterator[list[Event]]:
        """What the ranks send, in batches, until each has sent `finished`.

        Raises RunFailed when a rank dies or reports an error, or the deadline (on the clock of `now`) has passed;
        RunCancelled when the control descriptor speaks or closes.
        """
        rests: dict[int, bytes] = dict.fromkeys(self._alive, b"")
        finished: set[int] = set()
        while len(finished) < self.config.ranks:
            ready = self._pipes.select(max(0.0, deadline - now()))
            if not ready:
                raise RunFailed(f"The run was not finished within its limit of {self.config.deadline_s:g} seconds.")
            batch: list[Event] = []
            ended: list[int] = []
            for key, _ in ready:
                if key.data is None:
                    raise RunCancelled
                chunk = os.read(key.fd, 1 << 16)
                if not chunk:
                    self._pipes.unregister(key.fd)
                    os.close(key.fd)
                    ended.append(key.data)
                *lines, rests[key.data] = (rests[key.data] + chunk).split(b"\n")
                batch.extend(json.loads(line) for line in lines)
            for message in batch:
                if message["kind"] == "error":
                    raise RunFailed(self._killed_rank() or message["message"])
                if message["kind"] == "finished":
                    finished.add(message["rank"])
            if batch:
                yield batch
            for number in ended:
                if number not in finished:
                    raise RunFailed(f"Rank {number} {self._how_it_ended(number)}.")

    def _how_it_ended(self, number: int) -> str:
        """Wait for a rank whose pipe has closed; a phrase that says how it ended."""
        code = os.waitstatus_to_exitcode(os.waitpid(self._alive.pop(number), 0)[1])
        return f"was killed by signal {-code}" if code < 0 else f"ended too early, with exit status {code}"

    def _killed_rank(self) -> str | None:
        """A sentence about a rank that was killed: the errors of the ranks that missed it are only the consequence."""
        for number, pid in list(self._alive.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                del self._alive[number]
                if (code := os.waitstatus_to_exitcode(status)) < 0:
                    return f"Rank {number} was killed by signal {-code}."
        return None

    def leave(self) -> None:
        """Let ranks that have finished go by themselves, each until its pipe closes, then end the rest."""
        deadline = now() + EXIT_GRACE_S
        open_pipes = {key.fd for key in self._pipes.get_map().values() if key.data is not None}
        while open_pipes and (ready := self._pipes.select(max(0.0, deadline - now()))):
            for key, _ in ready:
                if key.data is None:
                    raise RunCancelled
                if not os.read(key.fd, 1 << 16):
                    self._pipes.unregister(key.fd)
                    os.close(key.fd)
                    open_pipes.discard(key.fd)
        self.kill()

    def kill(self) -> None:
        """End every rank that is left, wait for it, and close what belongs to it. May be called twice."""
        if self._alive:
            with contextlib.suppress(ProcessLookupError):  # all of them may have ended this moment
                os.killpg(self._group, signal.SIGKILL)
        for number in list(self._alive):
            os.waitpid(self._alive.pop(number), 0)
        for key in list(self._pipes.get_map().values()):
            self._pipes.unregister(key.fd)
            if key.data is not None:
                os.close(key.fd)


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when its parent ends, and end at once if that has already happened."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _rank_process(supervisor: int, body: Callable[[], None], pipe: int) -> None:
    """The forked child; never returns."""
    status = 1
    try:
        die_with_parent(supervisor)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.nice(2)  # the site goes first
        os.dup2(2, 1)  # stdout belongs to the supervisor's events
        os.closerange(3, pipe)  # the supervisor's socket and pipes are not the rank's business
        os.closerange(pipe + 1, 65536)
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
        body()
        status = 0
    except rank.RunError as error:
        _report_error(pipe, str(error))
    except BaseException as error:  # noqa: BLE001 - whatever it is, the supervisor must hear of it
        traceback.print_exc()
        _report_error(pipe, f"A rank stopped with an error: {type(error).__name__}: {error}".splitlines()[0])
    finally:
        sys.stderr.flush()
        os._exit(status)


def _report_error(pipe: int, message: str) -> None:
    with contextlib.suppress(BrokenPipeError):  # the supervisor has gone, and with it the need to report
        os.write(pipe, json.dumps({"kind": "error", "message": message}).encode() + b"\n")


class _Steps:
    """Turns the ranks' messages into the run's events and keeps what the last event needs."""

    def __init__(self, config: RunConfig, started: float, placement: Placement) -> None:
        self.losses: list[float] = []
        self.finished: dict[int, Event] = {}
        self.bytes_per_step = 0
        self._config = config
        self._started = started
        self._placement = placement
        self._waiting: dict[int, dict[int, Event]] = {}
        self._first_start = 0.0
        self._last_at = 0.0

    def events(self, batch: list[Event]) -> list[Event]:
        """The events of a batch of messages."""
        events: list[Event] = []
        for message in batch:
            if message["kind"] == "ready":
                events.append(
                    {"event": "ready", "t": self._time(message["at"])}
                    | {key: message[key] for key in ("rank", "pid", "device", "system")}
                )
            elif message["kind"] == "step":
                events.extend(self._span_events(message))
                of_step = self._waiting.setdefault(message["step"], {})
                of_step[message["rank"]] = message
                if len(of_step) == self._config.ranks:
                    events.append(self._step_event(self._waiting.pop(message["step"])))
            elif message["kind"] == "finished":
                self.finished[message["rank"]] = message
        return events

    def _time(self, at: float) -> float:
        return round(at - self._started, 6)

    def _span_events(self, message: Event) -> list[Event]:
        """`span` for computation, `comm` for communication; times in seconds since the run was asked for."""
        events: list[Event] = []
        for span in message["spans"]:
            where = {
                "rank": message["rank"],
                "step": message["step"],
                "start": self._time(span["start"]),
                "end": self._time(span["end"]),
            }
            if "bytes" in span:
                kind = {"event": "comm", "op": span["name"], "bucket": span["bucket"], "bytes": span["bytes"]}
                events.append(kind | where | {"backend": self._placement.backend})
            else:
                events.append({"event": "span", "name": span["name"]} | where)
        return events

    def _step_event(self, of_step: dict[int, Event]) -> Event:
        """One step of all ranks: the mean loss over the global batch, and each rank's own figures."""
        ranks = [of_step[number] for number in sorted(of_step)]
        step = ranks[0]["step"]
        if step == 0:
            self._first_start = min(span["start"] for message in ranks for span in message["spans"])
        self._last_at = max(message["at"] for message in ranks)
        self.bytes_per_step = sum(span.get("bytes", 0) for span in ranks[0]["spans"])
        self.losses.append(sum(message["loss"] for message in ranks) / len(ranks))
        return {
            "event": "step",
            "step": step,
            "loss": self.losses[-1],
            "t": self._time(self._last_at),
            "tokens_per_s": round(self.tokens_per_s, 1),
            "bytes": self.bytes_per_step,
            "ranks": [{"rank": m["rank"], "loss": m["loss"], "t": self._time(m["at"])} for m in ranks],
        }

    @property
    def tokens_per_s(self) -> float:
        """Characters trained on a second, from the start of the first step to the end of the last one seen."""
        return len(self.losses) * self._config.tokens_per_step / max(1e-9, self._last_at - self._first_start)


def run(config: RunConfig, *, run_dir: Path, emit: Emit, control: int | None = None) -> Event:
    """Run `config` to its end and return the last event (`done`), which is also emitted.

    `run_dir` is an empty directory of this attempt alone. Raises ConfigError, RunFailed or RunCancelled; no rank is
    alive when this returns or raises.
    """
    started = now()
    deadline = started + config.deadline_s
    placement = place(config)
    emit([_start_event(config, placement)])
    steps = _Steps(config, started, placement)
    try:
        with _gang(config, placement, run_dir, control) as gang:
            gang.start(run_dir / "store")
            for batch in gang.messages(deadline):
                emit(steps.events(batch))
            gang.leave()
    except RunFailed as failure:
        emit([{"event": "fault", "t": round(now() - started, 6), "reason": str(failure)}])
        raise
    hashes = {message["params_sha256"] for message in steps.finished.values()}
    done: Event = {
        "event": "done",
        "t": round(now() - started, 6),
        "loss": steps.losses[-1],
        "steps": len(steps.losses),
        "params_sha256": steps.finished[0]["params_sha256"],
        "replicas_identical": len(hashes) == 1,
        "parameters": steps.finished[0]["parameters"],
        "tokens_per_s": round(steps.tokens_per_s, 1),
        "bytes_per_step": steps.bytes_per_step,
        "wire_bytes_per_rank": round(2 * (config.ranks - 1) / config.ranks * steps.bytes_per_step),
        "parity": None,
    }
    if config.parity_steps:
        done["parity"] = _twin(config, placement, run_dir, control, deadline, steps.losses, emit)
        done["t"] = round(now() - started, 6)
    emit([done])
    return done


@contextlib.contextmanager
def _gang(config: RunConfig, placement: Placement, run_dir: Path, control: int | None) -> Iterator[Gang]:
    gang = Gang(config, placement, run_dir, control)
    try:
        yield gang
    finally:
        gang.kill()


def _twin(
    config: RunConfig,
    placement: Placement,
    run_dir: Path,
    control: int | None,
    deadline: float,
    losses: list[float],
    emit: Emit,
) -> Event:
    """Train the same steps in one process, emitting `twin` events, and return the parity certificate."""
    reference = config.reference()
    twin = _Steps(reference, now(), placement)
    with _gang(reference, placement, run_dir, control) as gang:
        gang.start(run_dir / "store-twin", is_twin=True)
        for batch in gang.messages(deadline):
            emit(
                [
                    {"event": "twin", "step": event["step"], "loss": event["loss"]}
                    for event in twin.events(batch)
                    if event["event"] == "step"
                ]
            )
        gang.leave()
    return parity.certificate(config, losses[: len(twin.losses)], twin.losses, twin.finished[0]["max_dparam"])


def _start_event(config: RunConfig, placement: Placement) -> Event:
    return {
        "event": "start",
        "t": 0.0,
        "config": config.to_json(),
        "device": placement.device,
        "backend": placement.backend,
        "note": placement.note,
        "characters": len(corpus().ids),
        "vocabulary": len(corpus().alphabet),
        "baselines": {name: round(value, 4) for name, value in baselines().items()},
        "torch": torch.__version__,
    }


__all__ = ["ConfigError", "Emit", "Event", "Gang", "RunCancelled", "RunFailed", "die_with_parent", "run"]
