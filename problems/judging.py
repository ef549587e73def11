"""This process's judge: found and attacked once, before anything of a learner runs. Fails closed."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field

from problems.judge.judge import Judge
from problems.judge.sandbox import Sandbox
from problems.judge.selftest import Report, selftest

log = logging.getLogger(__name__)


@dataclass
class _State:
    report: Report | None = None
    sandbox: Sandbox | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


_state = _State()


def test() -> Report:
    """Find a sandbox and attack it; what is found holds for this process and those that are forked from it."""
    with _state.lock:
        _state.sandbox, _state.report = selftest()
        if _state.sandbox is None:
            log.error("The judge takes nothing: %s", _state.report.sentence)
        return _state.report


def judge() -> Judge | None:
    """The judge, or None while there is no sandbox that held."""
    if _state.report is None:
        test()
    return Judge(_state.sandbox) if _state.sandbox is not None else None
