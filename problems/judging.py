"""This process's judge: found and attacked once, before anything of a learner runs. Fails closed.

A worker's main process makes the self-test and closes its sandbox again; each pool process that is forked from it knows
the report and starts a sandbox of its own with the first submission. A sandbox must not be shared over a fork: two
processes would read each other's answers from its pipes.
"""

from __future__ import annotations

import logging
import os
import threading
from dataclasses import dataclass, field

from problems.judge.cold import ColdSandbox
from problems.judge.judge import Judge
from problems.judge.sandbox import SandboxUnusable
from problems.judge.selftest import Report, find, selftest
from problems.judge.warm import WarmSandbox

log = logging.getLogger(__name__)


@dataclass
class _State:
    report: Report | None = None
    sandbox: WarmSandbox | ColdSandbox | None = None
    owner: int = 0  # the process that the sandbox belongs to
    lock: threading.Lock = field(default_factory=threading.Lock)


_state = _State()


def test() -> Report:
    """Find a sandbox and attack it; what is found holds for this process and those that are forked from it."""
    with _state.lock:
        sandbox, _state.report = selftest()
        if sandbox is None:
            log.error("The judge takes nothing: %s", _state.report.sentence)
        else:
            sandbox.close()
        return _state.report


def judge() -> Judge | None:
    """The judge of this process, or None while there is no sandbox that held."""
    report = _state.report or test()
    if not report.usable:
        return None
    with _state.lock:
        if _state.sandbox is None or _state.owner != os.getpid():
            try:
                _state.sandbox, _ = find()
            except SandboxUnusable as error:
                log.error("The judge takes nothing: %s", error)
                return None
            _state.owner = os.getpid()
        return Judge(_state.sandbox)


def close() -> None:
    """Let go of this process's sandbox."""
    with _state.lock:
        if _state.sandbox is not None and _state.owner == os.getpid():
            _state.sandbox.close()
        _state.sandbox = None
