"""How fast the judge is against a cold sandbox, measured in one run, taking turns.

    .venv/bin/python -m tests.bench.judge

The baseline is our own and minimal: bubblewrap starts Python, which imports numpy, solves the same five cases with the
same program and prints the answers; no checks, no limits, no protocol. The judge does all of its work: a complete jail,
the learner's calls of f answered outside, every answer checked. Figures of a shared machine are noisy; the ratios, from
turns taken in one run, are what counts. Exit status 1 when a gate is missed.
"""

# ruff: noqa: T201 - what it prints is its result

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import psutil

from problems.judge import bwrap, package
from problems.judge.cases import Remote, evaluate
from problems.judge.conversation import Conversation
from problems.judge.jail import wire
from problems.judge.judge import Judge
from problems.judge.package import Package
from problems.judge.sandbox import Limits
from problems.judge.warm import WarmSandbox

ROOT = Path(__file__).resolve().parents[2]
SOLUTION = ROOT / "problems/catalogue/numericalgradient/submissions/accepted/fresh_copies.py"
LATENCY_GATE, THROUGHPUT_GATE = 5.0, 12.0
ORACLE_GATE_US = 100.0
BASELINE = """
import sys
sys.path.insert(0, "/opt/site")
import numpy as np
exec(compile(open("/opt/solution.py").read(), "solution.py", "exec"))
for x in (1.5, np.ones(2), np.ones((2, 2)), np.arange(3.0), np.zeros(4)):
    print(numerical_gradient(lambda v: float(np.sum(np.square(v))), x, 1e-5))
"""


def cold(bubblewrap: Path) -> Callable[[], None]:
    """The baseline: one bubblewrap, one Python, numpy imported, five cases."""
    interpreter = bwrap.Interpreter.current()
    line = [str(bubblewrap), "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/usr", "/usr"]
    for library in ("/lib", "/lib64"):
        if os.path.islink(library):
            line += ["--symlink", os.readlink(library), library]
        elif os.path.isdir(library):
            line += ["--ro-bind", library, library]
    for source, target in interpreter.mounts:
        line += ["--ro-bind", source, target]
    line += ["--ro-bind", str(SOLUTION), "/opt/solution.py", "--setenv", "OPENBLAS_NUM_THREADS", "1"]
    line += [interpreter.executable, "-I", "-S", "-B", "-c", BASELINE]

    def run() -> None:
        done = subprocess.run(line, capture_output=True, text=True, check=True)
        if len(done.stdout.splitlines()) < 5:
            raise RuntimeError(f"the baseline did not solve its cases: {done.stderr}")

    return run


def warm(sandbox: WarmSandbox, problem: Package) -> Callable[[], None]:
    """The judge: five hidden and visible cases of the real problem."""
    judge, source, cases = Judge(sandbox), SOLUTION.read_bytes(), problem.cases(1)[:5]

    def run() -> None:
        result = judge.judge(problem, source, cases)
        if result.verdict != "AC":
            raise RuntimeError(f"the judge says {result.verdict}: {result.message}")

    return run


def _ms(job: Callable[[], None]) -> float:
    start = time.perf_counter()
    job()
    return (time.perf_counter() - start) * 1000


def quantile(values: list[float], q: float) -> float:
    return float(np.quantile(values, q))


def latency(jobs: dict[str, Callable[[], None]], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each job, taking turns; the pause lets both start from rest."""
    seen: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            seen[name].append(_ms(job))
            time.sleep(0.02)
    return seen


def _work(kind: str, path: Path, seconds: float, ready: object, results: object) -> None:
    """One worker process: jobs until time is up."""
    sandbox = WarmSandbox(path)
    job = warm(sandbox, package.load(SOLUTION.parents[2])) if kind == "judge" else cold(path)
    job()
    ready.wait()  # type: ignore[attr-defined]
    end, count = time.perf_counter() + seconds, 0
    while time.perf_counter() < end:
        job()
        count += 1
    sandbox.close()
    results.put(count)  # type: ignore[attr-defined]


def throughput(kind: str, path: Path, seconds: float, workers: int = 2) -> float:
    """Jobs per second of this many workers together."""
    context = get_context("spawn")
    ready, results = context.Barrier(workers), context.Queue()
    pool = [context.Process(target=_work, args=(kind, path, seconds, ready, results)) for _ in range(workers)]
    for process in pool:
        process.start()
    total = sum(results.get() for _ in pool)
    for process in pool:
        process.join()
    return total / seconds


def oracle_us(sandbox: WarmSandbox, batches: int = 40, calls: int = 100) -> list[float]:
    """Microseconds of one call of f from inside the jail, each batch's mean; f sums squares of 8 numbers."""
    remote = Remote(lambda x: np.sum(x * x))
    child = sandbox.start(Limits(case_seconds=30))
    child.load("ask", "def ask(f, x, n):\n    for _ in range(n):\n        f(x)\n    return 0.0\n")
    arguments = (wire.Value("remote", text="f"), wire.describe(np.ones(8)), wire.describe(calls))
    seen = [child.run(arguments, lambda point: evaluate(remote, point)).ms * 1000 / calls for _ in range(batches)]
    child.close()
    return seen


def memory(sandbox: WarmSandbox, problem: Package) -> dict[str, float]:
    """MiB of proportional set size: the waiting interpreter, an empty child, one that has judged five cases."""
    child = sandbox.start(problem.limits)
    if not isinstance(child, Conversation):
        raise TypeError("a child of another kind")
    outer = psutil.Process(sandbox.pids()["numpy"])
    zygote = outer.children()[0]
    waiting = [process for process in zygote.children() if process.is_running()]

    def pss(process: psutil.Process) -> float:
        return float(process.memory_full_info().pss) / (1 << 20)

    def own(process: psutil.Process) -> float:
        return float(process.memory_full_info().uss) / (1 << 20)

    found = {
        "bubblewrap (pss)": pss(outer),
        "interpreter (pss)": pss(zygote),
        "child (pss)": statistics.median(map(pss, waiting)),
        "child, its own pages (uss)": statistics.median(map(own, waiting)),
    }
    child.close()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="The judge against a cold sandbox.")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=4.0, help="of each of the throughput turns")
    options = parser.parse_args()
    path = bwrap.candidates()[0]
    problem = package.load(SOLUTION.parents[2])
    sandbox = WarmSandbox(path)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start, profile {sandbox.profile}")
    jobs = {"cold": cold(path), "judge": warm(sandbox, problem)}
    for job in jobs.values():
        job()
    oracle = oracle_us(sandbox)
    seen = latency(jobs, options.rounds)
    calls = quantile(oracle + oracle_us(sandbox), 0.5)
    for name, values in seen.items():
        print(f"5-case job, {name}: p50 {quantile(values, 0.5):.1f} ms, p99 {quantile(values, 0.99):.1f} ms")
    faster = quantile(seen["cold"], 0.5) / quantile(seen["judge"], 0.5)
    print(
        f"p50: {faster:.1f} times as fast; "
        f"p99: {quantile(seen['cold'], 0.99) / quantile(seen['judge'], 0.99):.1f} times"
    )
    rates: dict[str, list[float]] = {"cold": [], "judge": []}
    for _ in range(2):
        for name, figures in rates.items():
            figures.append(throughput(name, path, options.seconds))
    more = sum(rates["judge"]) / sum(rates["cold"])
    for name, figures in rates.items():
        print(f"2 workers, {name}: {statistics.mean(figures):.1f} jobs/s")
    print(f"throughput: {more:.1f} times as many")
    print(f"a call of f: {calls:.0f} us median, {min(oracle):.0f} us at best")
    for name, figure in memory(sandbox, problem).items():
        print(f"memory of {name}: {figure:.1f} MiB")
    sandbox.close()
    print(f"load {os.getloadavg()[0]:.1f} at the end")
    missed = [
        sentence
        for holds, sentence in (
            (faster >= LATENCY_GATE, f"p50 must be {LATENCY_GATE:g} times as fast"),
            (more >= THROUGHPUT_GATE, f"throughput must be {THROUGHPUT_GATE:g} times as high"),
            (calls <= ORACLE_GATE_US, f"a call of f must take at most {ORACLE_GATE_US:g} us (on a quiet machine)"),
        )
        if not holds
    ]
    for sentence in missed:
        print(f"missed: {sentence}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
