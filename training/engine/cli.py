"""The command line: `python -m training.engine STRATEGY --ranks N --steps K --seed S --device auto --json`.

Events as JSON lines on stdout (or short lines for people without --json), everything else on stderr. Exit status: 0,
2 for arguments that make no run, 4 for a run that failed, 130 or 143 for one that was interrupted.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from training.engine.config import SIZES, STRATEGIES, ConfigError, RunConfig
from training.engine.threads import one_thread_each

BAD_ARGUMENTS, FAILED = 2, 4


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One sentence instead of argparse's usage block."""
        self.exit(BAD_ARGUMENTS, f"{message[:1].upper()}{message[1:]}; --help lists what can be given.\n")


def parser() -> argparse.ArgumentParser:
    """The arguments; their defaults are those of RunConfig."""
    default = RunConfig()
    made = _Parser(prog="python -m training.engine", description="Train a tiny GPT on several ranks and prove it.")
    made.add_argument("strategy", help=", ".join(STRATEGIES))
    made.add_argument("--ranks", type=int, help=f"processes, default {default.ranks} (1 for single)")
    made.add_argument("--model", help=f"{', '.join(SIZES)}; default {default.model}")
    made.add_argument("--json", action="store_true", help="one JSON object per event on stdout")
    made.add_argument("--run-dir", type=Path, help="where the files of the run live; default: a new one under var/runs")
    helps = {
        "steps": "training steps",
        "seed": "decides starting weights and reading order",
        "device": "auto, cpu or cuda",
        "dtype": "float32 or float64",
        "optimizer": "adamw or sgd",
        "learning_rate": "default 0.003 for adamw, 0.1 for sgd",
        "batch": "sequences in one step, over all ranks",
        "bucket_kb": "size of a gradient bucket in KiB",
        "parity_steps": "steps compared with one process, 0 for none",
        "deadline_s": "seconds after which the run is ended",
    }
    for name, text in helps.items():
        value = getattr(default, name)
        kind = float if value is None else type(value)
        shown = "" if value is None else f" (default {value})"
        made.add_argument(f"--{name.replace('_', '-')}", type=kind, help=text + shown)
    return made


def config_from(arguments: argparse.Namespace) -> RunConfig:
    """The validated config of parsed arguments. Raises ConfigError."""
    fields = {field.name for field in dataclasses.fields(RunConfig)}
    given = {key: value for key, value in vars(arguments).items() if key in fields and value is not None}
    if given["strategy"] == "single":
        given.setdefault("ranks", 1)
    return RunConfig.from_mapping(given)


def main(argv: list[str] | None = None) -> int:
    """Run what the arguments ask for and return the exit status."""
    arguments = parser().parse_args(argv)
    try:
        config = config_from(arguments)
    except ConfigError as error:
        sys.stderr.write(f"{error}\n")
        return BAD_ARGUMENTS
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _interrupt)
    one_thread_each()
    from training.engine import gang, warm  # torch takes seconds to import: only for a run that can be

    warm.warm_up()
    run_dir = arguments.run_dir or _new_run_dir()
    try:
        run_dir.mkdir(parents=True, exist_ok=True)
        gang.run(config, run_dir=run_dir, emit=_print_json if arguments.json else _print_lines)
    except ConfigError as error:
        sys.stderr.write(f"{error}\n")
        return BAD_ARGUMENTS
    except gang.RunFailed as failure:
        sys.stderr.write(f"{failure}\n")
        return FAILED
    except BrokenPipeError:  # the reader of our output has gone: nothing is left to say
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    finally:
        if arguments.run_dir is None:
            shutil.rmtree(run_dir, ignore_errors=True)
    return 0


def _interrupt(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _new_run_dir() -> Path:
    parent = Path(os.environ.get("PIXELBANK_VAR") or Path(__file__).parents[2] / "var") / "runs"
    parent.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix="cli-", dir=parent))


def _print_json(events: list[dict[str, Any]]) -> None:
    for event in events:
        sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def _print_lines(events: list[dict[str, Any]]) -> None:
    for event in events:
        if line := _line(event):
            sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _line(event: dict[str, Any]) -> str | None:
    """An event in words; None for the kinds that only programs want."""
    if event["event"] == "start":
        return str(event["note"])
    if event["event"] == "step":
        return f"step {event['step']:4d}   loss {event['loss']:.4f}   {event['tokens_per_s']:.0f} tokens/s"
    if event["event"] != "done":
        return None
    line = f"done   loss {event['loss']:.4f}   parameters sha256 {event['params_sha256'][:16]}…"
    if proof := event["parity"]:
        verdict = "agrees with" if proof["holds"] else "DIFFERS from"
        line += (
            f"\nThe run {verdict} one process over {proof['steps']} steps: parameters within "
            f"{proof['max_dparam']:.1e}, losses within {proof['max_dloss']:.1e} (tolerance {proof['tolerance']:.0e})."
        )
    return line
