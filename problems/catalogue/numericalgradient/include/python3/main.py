"""The driver that Kattis judges run beside a submission: it loads the one other Python file of this folder, calls its
``numerical_gradient`` as the output validator asks, and hands each call of f over to it.

One JSON object a line, on stdin and stdout; what the submission prints goes to stderr. What comes out of here is
never a verdict: the validator sees values and makes its own. ``problems/judge/lines.py`` is the other end.
Exit status 1 when the submission failed to load or raised.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np

ENTRY = "numerical_gradient"
LAYOUTS = {"f": np.asfortranarray, "c": np.ascontiguousarray}
ERRORS = {e.__name__: e for e in (TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError)}
MANY, DEPTH = 1 << 17, 6


def strided(array):
    """The same numbers as a view of every second entry of a wider array."""
    wide = np.full((*array.shape[:-1], array.shape[-1] * 2), 7, dtype=array.dtype)
    view = wide[..., ::2]
    view[...] = array
    return view


def build(data, f):
    """A live object of what the validator sent."""
    if isinstance(data, list):
        return [build(item, f) for item in data]
    if not isinstance(data, dict):
        return data
    if "remote" in data:
        return f
    array = np.array(data["data"], dtype=data["array"]).reshape(data["shape"])
    return LAYOUTS.get(data["layout"], strided)(array) if array.ndim else array


def describe(thing, depth=DEPTH):
    """What the validator may know of a live object: numbers, arrays and lists of them, else the name of its type."""
    kind = type(thing)
    if thing is None or kind in (bool, float) or (kind is int and thing.bit_length() < 1024):
        return thing
    if kind is complex:
        return {"complex": [thing.real, thing.imag]}
    if kind is np.ndarray and thing.size > MANY:
        return {"huge": list(thing.shape)}
    if (kind is np.ndarray or isinstance(thing, np.generic)) and thing.dtype.kind in "fiubc":
        flat = np.ascontiguousarray(thing).reshape(-1)
        numbers = flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat
        named = "array" if kind is np.ndarray else "scalar"
        return {named: thing.dtype.str, "shape": list(thing.shape), "data": numbers.tolist()}
    if kind in (list, tuple) and depth:
        return {kind.__name__: [describe(item, depth - 1) for item in thing]}
    return {"other": f"{kind.__module__}.{kind.__qualname__}"}


def line_of(error):
    """The last line of the submission in a traceback; 0 when there is none."""
    line, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "solution.py":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def load():
    """(the function, None), or (None, what went wrong)."""
    here = Path(__file__).resolve()
    files = [path for path in sorted(here.parent.glob("*.py")) if path != here]
    if len(files) != 1:
        return None, ["missing", "", "", 0]
    space = {"__name__": "solution"}
    stage = "compile"
    try:
        code = compile(files[0].read_text("utf-8-sig"), "solution.py", "exec", dont_inherit=True)
        stage = "import"
        exec(code, space)  # noqa: S102 - running the submission is what a driver is for
    except BaseException as error:  # noqa: BLE001 - whatever a submission raises
        return None, [stage, type(error).__name__, str(error), getattr(error, "lineno", None) or line_of(error)]
    if not callable(space.get(ENTRY)):
        return None, ["missing", "", "", 0]
    return space[ENTRY], None


def main():
    """Load, then case after case until the validator ends or closes the conversation."""
    lines, out = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.stdin = open(os.devnull)  # noqa: SIM115 - for as long as the process lives

    def say(**message):
        out.write(json.dumps(message) + "\n")
        out.flush()

    def hear():
        line = lines.readline()
        return json.loads(line) if line else {"end": True}

    def f(point, /, *more, **named):
        say(call=[describe(point)] if not more and not named else [])
        answer = hear()
        if "error" in answer:
            raise ERRORS.get(answer["error"][0], RuntimeError)(answer["error"][1])
        return float(answer["value"])

    function, failure = load()
    if failure:
        say(failed=failure)
        return 1
    say(loaded=ENTRY)
    status = 0
    while "case" in (asked := hear()):
        try:
            arguments = [build(item, f) for item in asked["case"]]
            value = function(*arguments)
            say(returned=[describe(value), [None if a is f else describe(a) for a in arguments]])
        except BaseException as error:  # noqa: BLE001 - whatever a submission raises
            status = 1
            say(raised=[type(error).__name__, str(error), line_of(error)])
    return status


if __name__ == "__main__":
    sys.exit(main())
