"""From a source to a judgement: case after case in a sandboxed child, checked outside of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from problems.judge import checker
from problems.judge.cases import Case, Remote, evaluate, wire_arguments
from problems.judge.jail.wire import Value
from problems.judge.package import Package
from problems.judge.sandbox import Child, Limits, Loaded, Oracle, Sandbox, SandboxError
from problems.judge.verdicts import CaseResult, Judgement, Verdict

log = logging.getLogger(__name__)
OnCase = Callable[[int, int, CaseResult], None]
# A case that ends its child costs a new one, one that eats its time costs that, too. From this sum on,
# no case is run.
PATIENCE, ENDED, TIMED_OUT = 3, 1, 2
NOT_RUN = "Not run: too many earlier cases ended your program."


class OnCaseFailed(Exception):
    """Whoever listens to the cases wants to stop; not the judge's fault, so nothing is tried again."""

    def __init__(self, reason: Exception) -> None:
        super().__init__(str(reason))
        self.reason = reason


class Judge:
    """Makes verdicts with one sandbox. Keeps nothing between submissions."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox

    def judge(
        self, package: Package, source: bytes | str, cases: Sequence[Case], on_case: OnCase | None = None
    ) -> Judgement:
        """The judgement of ``source`` on ``cases``. ``on_case(index, total, result)`` is told each case as it is
        known; what it raises ends the judging and is raised here.

        An error on the trusted side is tried once more and then is JE: never AC, never the learner's fault.
        """
        limits = package.limits
        text, fault = readable(source, limits)
        if fault:
            return Judgement(Verdict.CE, None, fault, 0, len(cases), 0.0)
        for attempt in (1, 2):
            try:
                return self._run(package.entry, text, cases, limits, on_case)
            except OnCaseFailed as stop:
                raise stop.reason from None
            except Exception:
                log.exception("the judge failed on a submission for %s (attempt %d of 2)", package.name, attempt)
        return Judgement(
            Verdict.JE,
            None,
            "The judge itself failed. This is not your fault and counts for nothing; please submit again.",
            0,
            len(cases),
            0.0,
        )

    def _run(self, entry: str, source: str, cases: Sequence[Case], limits: Limits, on_case: OnCase | None) -> Judgement:
        results: list[CaseResult] = []
        child: Child | None = None
        outputs: list[str] = []
        trouble, spent = 0, 0.0
        try:
            for index, case in enumerate(cases):
                if trouble >= PATIENCE or spent > limits.total_seconds:
                    result = CaseResult(case.name, case.group, case.note, Verdict.SKIPPED, None, NOT_RUN, 0.0)
                else:
                    if child is None or not child.alive:
                        child = self.sandbox.start(limits)
                        loaded = child.load(entry, source)
                        if loaded.output:
                            outputs.append(loaded.output)
                        if not loaded.ok and not results:
                            verdict, message = not_loaded(loaded, entry, limits)
                            return Judgement(verdict, None, message, 0, len(cases), loaded.ms, output="".join(outputs))
                        if not loaded.ok:
                            raise SandboxError(f"the same source did not load a second time ({loaded.stage})")
                    seen = child.run(wire_arguments(case), oracle_of(case))
                    result = checker.check(case, seen, limits)
                    spent += seen.ms / 1000
                    if not child.alive or result.verdict is Verdict.MLE:  # filling the memory takes its time, too
                        trouble += TIMED_OUT if result.verdict is Verdict.TLE else ENDED
                results.append(result)
                if on_case is not None:
                    try:
                        on_case(index, len(cases), result)
                    except Exception as reason:
                        raise OnCaseFailed(reason) from reason
        finally:
            if child is not None:
                child.close()
        return summary(results, "".join(outputs))


def oracle_of(case: Case) -> Oracle | None:
    """The case's remote function as a function of a value; None when it has none."""
    remote = next((argument for argument in case.arguments if isinstance(argument, Remote)), None)
    if remote is None:
        return None

    def oracle(point: Value) -> float:
        return evaluate(remote, point)

    return oracle


def summary(results: Sequence[CaseResult], output: str = "") -> Judgement:
    """The first case that is not AC gives the verdict."""
    passed = sum(result.verdict is Verdict.AC for result in results)
    first = next((result for result in results if result.verdict is not Verdict.AC), None)
    ms = sum(result.ms for result in results)
    if first is None:
        return Judgement(
            Verdict.AC, None, f"All {passed} cases are right.", passed, len(results), ms, tuple(results), output
        )
    return Judgement(first.verdict, first.reason, first.message, passed, len(results), ms, tuple(results), output)


def readable(source: bytes | str, limits: Limits) -> tuple[str, str]:
    """The source as text, and one sentence when it cannot be: too long, not UTF-8, or with NUL characters."""
    raw = source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")
    if len(raw) > limits.source:
        long, most = f"{len(raw) / 1024:.0f} KiB", f"{limits.source >> 10} KiB"
        if long == most:
            long, most = f"{len(raw)} bytes", f"{limits.source} bytes"
        return "", f"The source is {long} long; at most {most} are accepted."
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return "", f"The source is not valid UTF-8 (byte {error.start + 1}); save the file as UTF-8."
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        return "", f"The source holds a NUL character in line {line}; remove it."
    return text, ""


def not_loaded(loaded: Loaded, entry: str, limits: Limits) -> tuple[Verdict, str]:
    """Verdict and sentence for a source that could not be loaded."""
    raised = loaded.raised
    where = f" in line {raised.line}" if raised and raised.line else ""
    if loaded.stage == "compile" and raised:
        column = f", column {loaded.column}" if loaded.column and where else ""
        return Verdict.CE, f"{raised.kind}{where}{column}: {raised.message}"
    if loaded.stage == "import" and raised:
        if raised.kind == "MemoryError":
            return checker.ended("memory", "", limits.case_seconds, limits.memory, limits.output)
        said = f": {raised.message}" if raised.message else ""
        return Verdict.RE, f"{raised.kind}{where} while your file was loaded{said}"
    if loaded.stage == "missing":
        found = f"; it defines {raised.message}" if raised and raised.message else ""
        return Verdict.CE, f"There is no function named {entry} in your file{found}."
    return checker.ended(
        loaded.stage, raised.message if raised else "", limits.load_seconds, limits.memory, limits.output
    )
