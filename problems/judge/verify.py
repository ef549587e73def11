"""Is a problem package good enough to publish? Every claim about it is a gate with a figure, checked by running
programs.

The gates run the package's own programs in this process (see ``trusted``). ``in_sandbox`` runs them in the real one
as well and demands the same observations; ``mutation`` changes the accepted programs. Both take longer and are asked
for by name.
"""

from __future__ import annotations

import io
import json
import re
import time
import tokenize
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import yaml

from problems.judge import kattis, known, matcher, readability
from problems.judge.behaviour import base_point, behaviours, given_step, numbers
from problems.judge.cases import Case, Remote, wire_arguments
from problems.judge.judge import Judge, oracle_of
from problems.judge.matcher import Profile
from problems.judge.mutation import Mutant, mutants
from problems.judge.package import Package, PackageError, load
from problems.judge.sandbox import Sandbox
from problems.judge.trusted import TrustedSandbox
from problems.judge.verdicts import CaseResult, Judgement, Observation, Verdict

ACCEPTED_SEEDS: Final = range(20)
WRONG_SEEDS: Final = (0, 1, 2)
FLAKE_SEEDS: Final = range(60)
DEFAULT_STEPS: Final = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
MIN_STYLES: Final = 5
MIN_SAFETY: Final = 3.0
MIN_RIGHT, MAX_FALSE = 0.95, 0.02
MIN_MUTATION: Final = 0.95
TIME_FACTOR, MIN_TIME = 5.0, 1.0
MAX_WORDS, MAX_SENTENCE_WORDS, MAX_GRADE = 160, 60, 9.0
WINDOW: Final = 10  # tokens in a row that give a program away
HELP_WINDOW: Final = 16  # in hints and tutor sentences, which may show a formula or one idiom
MUTANT_SECONDS: Final = 0.5
_ALLOWED: Final = {"WA": {Verdict.WA}, "RE": {Verdict.RE}, "TLE": {Verdict.TLE}}
_PLAYED: Final = ("AC", "WA", "RE")
_FILE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_TEXT: Final = (".py", ".md", ".yaml", ".txt", ".in", ".ans")


@dataclass(slots=True)
class Gate:
    """The outcome of one gate: it passes when ``problems`` is empty. ``figures`` are what was counted or measured."""

    package: str
    name: str
    figures: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        return not self.problems

    def need(self, holds: bool, problem: str) -> None:
        """Note a problem unless it holds."""
        if not holds:
            self.problems.append(problem)


@dataclass(slots=True)
class _Seed:
    """The wrong programs of one seed: cases, known profiles by file, held-out ones by file, and their judgements."""

    cases: Sequence[Case]
    known: dict[str, Profile]
    heldout: dict[str, Profile]
    judgements: dict[str, Judgement]
    scores: dict[tuple[str, str], float] = field(default_factory=dict)

    def score(self, one: Profile, two: Profile) -> float:
        """The similarity of two programs, computed once."""
        key = (min(one.file, two.file), max(one.file, two.file))
        if key not in self.scores:
            self.scores[key] = matcher.similarity(one.behaviours, two.behaviours, self.cases)
        return self.scores[key]

    def ranked(self, program: Profile, others: Iterable[Profile]) -> list[tuple[str, float]]:
        """The misconceptions of the others by their likeness to a program."""
        return matcher.best_first((other.misconception, self.score(program, other)) for other in others)


class Verifier:
    """All gates of one package. Programs are run once per seed and shared between gates."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.judge = Judge(TrustedSandbox(watched=True))
        self.accepted = [item for item in package.submissions if item.verdict == "AC"]
        self.heldout = sorted((package.folder / "pixelbank" / "heldout").glob("*.py"))
        self._seeds: dict[int, _Seed] = {}
        self._slowest: dict[str, list[float]] = {}

    def gates(self, slow: bool = False, sandbox: Sandbox | None = None) -> Iterator[Gate]:
        """The gates, one after the other."""
        names = [
            "files",
            "samples",
            "accepted",
            "wrong",
            "heldout",
            "separability",
            "flake",
            "time",
            "secrecy",
            "readability",
            "kattis",
        ]
        for name in names:
            yield self._gate(name, getattr(self, f"_{name}"))
        if slow:
            yield self._gate("mutation", self._mutation)
        if sandbox is not None:
            yield self._gate("in_sandbox", lambda gate: self._in_sandbox(gate, sandbox))

    def _gate(self, name: str, check: Callable[[Gate], None]) -> Gate:
        gate = Gate(self.package.name, name)
        start = time.monotonic()
        check(gate)
        gate.figures["seconds"] = round(time.monotonic() - start, 1)
        return gate

    # --- the files --------------------------------------------------------------------------------------------------

    def _files(self, gate: Gate) -> None:
        """UTF-8, LF, names; every misconception has texts, a known and a held-out program."""
        folder = self.package.folder
        files = [path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
        for path in files:
            where = path.relative_to(folder).as_posix()
            gate.need(
                bool(_FILE_NAME.fullmatch(path.name)), f"{where}: the name has other characters than A-Z a-z 0-9 . _ -"
            )
            if path.suffix in _TEXT:
                raw = path.read_bytes()
                gate.need(b"\r" not in raw, f"{where}: line ends must be LF")
                gate.need(not raw.startswith(b"\xef\xbb\xbf"), f"{where}: starts with a byte order mark")
                gate.need(not raw or raw.endswith(b"\n"), f"{where}: the last line has no end")
                try:
                    raw.decode("utf-8")
                except UnicodeDecodeError:
                    gate.problems.append(f"{where}: not UTF-8")
        texts = self.package.misconceptions
        programs = [known.misconception_of(item) for item in known.wrong_programs(self.package)]
        held = [_id_of(path) for path in self.heldout]
        for name, row in texts.items():
            for key in ("title", "evidence", "sentence", "hint", "link"):
                gate.need(bool(row.get(key)), f"misconceptions.yaml: {name} has no {key}")
            step = row.get("hint", "")
            gate.need(
                step.isdigit() and 1 <= int(step) <= len(self.package.hints),
                f"misconceptions.yaml: {name}: no hint {step}",
            )
            gate.need(name in programs, f"{name} has no wrong program that the matcher knows")
            gate.need(name in held, f"{name} has no held-out program")
        for name in {*programs, *held} - set(texts):
            gate.problems.append(f"{name} has a program and no texts")
        for item in self.package.submissions:
            if item.verdict in ("WA", "RE"):
                gate.need(
                    bool(known.misconception_of(item)), f"{item.path.name} names no misconception in submissions.yaml"
                )
        gate.figures.update(
            files=len(files),
            accepted=len(self.accepted),
            wrong=len(programs),
            heldout=len(held),
            misconceptions=len(texts),
        )

    def _kattis(self, gate: Gate) -> None:
        """As a Kattis judge sees it: test data are valid, and driver and output validator give the verdicts."""
        folder = self.package.folder
        inputs = sorted((folder / "data").rglob("*.in"))
        for path in inputs:
            wanted = path.parent.name != "invalid_input"
            where = path.relative_to(folder).as_posix()
            gate.need(
                kattis.valid_input(folder, path) is wanted,
                f"{where}: the input validators must {'accept' if wanted else 'reject'} this",
            )
        tests: dict[str, Path] = {}  # the first sample and the first seed
        for case in self.package.data:
            tests.setdefault(case.key, folder / "data" / f"{case.name}.in")
            try:
                self.package.cases_of(case)
            except PackageError as error:
                gate.problems.append(str(error))
        programs = [next((i for i in self.package.submissions if i.verdict == verdict), None) for verdict in _PLAYED]
        runs = [(item, test) for item in programs if item for test in tests.values()]
        for item, test in runs:
            if item.verdict != "AC" and test != tests["seed"]:
                continue  # a wrong program may well solve a sample
            wanted_status = kattis.ACCEPTED if item.verdict == "AC" else kattis.WRONG
            played = kattis.play(folder, item.path, test)
            where = f"{item.path.name} on data/{test.parent.name}/{test.name}"
            gate.need(
                played.validator == wanted_status, f"{where}: exit status {played.validator}, not {wanted_status}"
            )
            gate.need(item.message in played.message, f"{where}: judgemessage.txt does not say {item.message!r}")
            crashed = item.verdict == "RE"
            gate.need((played.driver != 0) is crashed, f"{where}: the driver ends with {played.driver}")
        gate.figures.update(
            inputs=sum(path.parent.name != "invalid_input" for path in inputs),
            invalid=sum(path.parent.name == "invalid_input" for path in inputs),
            seeds=len(self.package.seeds),
            programs=sum(item is not None for item in programs),
        )

    # --- right programs ---------------------------------------------------------------------------------------------

    def _samples(self, gate: Gate) -> None:
        """There are samples, what they print is right, and accepted programs solve them."""
        samples = self.package.samples()
        gate.need(len(samples) > 0, "there is no sample")
        for case in samples:
            shown = dict(case.shown)
            try:
                printed = np.asarray(json.loads(shown.get("answer", "")), dtype=np.float64)
            except (ValueError, TypeError):
                gate.problems.append(f"{case.name}: the printed answer is not a number or a list")
                continue
            wanted = np.asarray(case.expected, dtype=np.float64)
            right = printed.shape == wanted.shape and bool(
                np.all(np.abs(printed - wanted) <= case.atol + case.rtol * np.abs(wanted))
            )
            gate.need(right, f"{case.name}: the printed answer {shown.get('answer')} is not the right one")
        for item in self.accepted:
            result = self._judged(item.path, samples)
            gate.need(
                result.verdict is Verdict.AC, f"{item.path.name}: {result.verdict} on the samples: {result.message}"
            )
        gate.figures.update(samples=len(samples), programs=len(self.accepted))

    def _accepted(self, gate: Gate) -> None:
        """Several styles of right programs pass all seeds, far from the tolerance."""
        gate.need(
            len(self.accepted) >= MIN_STYLES, f"{len(self.accepted)} accepted styles, at least {MIN_STYLES} are needed"
        )
        safety, runs = float("inf"), 0
        for seed in ACCEPTED_SEEDS:
            cases = self.package.cases(seed)
            for item in self.accepted:
                result = self._judged(item.path, cases)
                runs += 1
                gate.need(
                    result.verdict is Verdict.AC, f"{item.path.name}: {result.verdict} on seed {seed}: {result.message}"
                )
                self._slowest.setdefault(item.path.name, []).append(
                    max((case.ms for case in result.cases), default=0.0)
                )
                safety = min([safety, *(_safety(c, r) for c, r in zip(cases, result.cases, strict=False))])
        gate.need(safety >= MIN_SAFETY, f"the tolerance is only {safety:.1f} times the worst error")
        gate.figures.update(
            styles=len(self.accepted), seeds=len(ACCEPTED_SEEDS), runs=runs, safety_factor=_short(safety)
        )

    def _flake(self, gate: Gate) -> None:
        """With any sensible default step a right program passes, far from the tolerance."""
        worst: dict[str, float] = {}
        checks = failures = 0
        for seed in FLAKE_SEEDS:
            style = self.accepted[seed % len(self.accepted)]
            plain = [c for c in self.package.cases(seed) if base_point(c) is not None and given_step(c) is None]
            for step in DEFAULT_STEPS:
                cases = [replace(case, arguments=(*case.arguments, step)) for case in plain]
                result = self._judged(style.path, cases)
                checks += len(cases)
                failures += len(cases) - result.passed
                for case, seen in zip(cases, result.cases, strict=False):
                    worst[f"{step:g}"] = min(worst.get(f"{step:g}", float("inf")), _safety(case, seen))
        gate.need(failures == 0, f"{failures} of {checks} checks fail with a sensible default step")
        least = min(worst.values(), default=float("inf"))
        gate.need(least >= MIN_SAFETY, f"the tolerance is only {least:.1f} times the worst error")
        gate.figures.update(
            seeds=len(FLAKE_SEEDS), checks=checks, failures=failures, safety_factor=_short(least),
            by_step={step: _short(value) for step, value in worst.items()},
        )  # fmt: skip

    def _time(self, gate: Gate) -> None:
        """The limit of a case is generous for right programs, and what loops for ever meets it."""
        # a busy machine makes single runs slow, so it is the median over the seeds that counts
        slowest = max((float(np.median(times)) for times in self._slowest.values()), default=0.0)
        wanted = max(MIN_TIME, TIME_FACTOR * slowest / 1000)
        limit = self.package.limits.case_seconds
        gate.need(limit >= wanted, f"the limit is {limit:g} s, but it should be at least {wanted:.1f} s")
        endless = [item for item in self.package.submissions if item.verdict == "TLE"]
        for item in endless:
            result = self._judged(item.path, self.package.cases(0)[:1])
            gate.need(result.verdict is Verdict.TLE, f"{item.path.name}: {result.verdict}, not TLE")
        gate.figures.update(
            limit_s=limit, slowest_ms=round(slowest, 1), endless=len(endless), naming_cpu_ms=self._naming_ms()
        )

    def _naming_ms(self) -> float | None:
        """Processor time to name the misconception of a fresh submission: the median over some held-out programs."""
        cases = self.package.cases(0)
        times = []
        for path in self.heldout[::8]:
            results = self._judged(path, cases).cases
            start = time.process_time()
            known.identify(self.package, cases, results)
            times.append((time.process_time() - start) * 1000)
        return round(float(np.median(times))) if times else None

    # --- wrong programs ---------------------------------------------------------------------------------------------

    def _seed(self, seed: int) -> _Seed:
        if seed not in self._seeds:
            cases = self.package.cases(seed)
            judgements = {}
            profiles: tuple[dict[str, Profile], dict[str, Profile]] = ({}, {})
            programs = [(i.path, known.misconception_of(i), 0) for i in known.wrong_programs(self.package)]
            programs += [(path, _id_of(path), 1) for path in self.heldout]
            for path, name, where in programs:
                result = self._judged(path, cases)
                file = path.relative_to(self.package.folder).as_posix()
                judgements[file] = result
                if len(result.cases) == len(cases):
                    profiles[where][file] = Profile(file, name, behaviours(cases, result.cases))
            self._seeds[seed] = _Seed(cases, *profiles, judgements)
        return self._seeds[seed]

    def _wrong(self, gate: Gate) -> None:
        """Each wrong program gets its folder's verdict on each seed, and its own name, also from all other programs."""
        verdicts: dict[str, int] = {}
        fewest: dict[str, int] = {}
        lowest = (1.0, "")
        alone = 0  # programs that only they themselves can name: a style of their own
        for seed in WRONG_SEEDS:
            data = self._seed(seed)
            for item in known.wrong_programs(self.package):
                file = item.path.relative_to(self.package.folder).as_posix()
                result = data.judgements[file]
                verdicts[result.verdict] = verdicts.get(result.verdict, 0) + 1
                allowed = _ALLOWED[item.verdict]
                gate.need(result.verdict in allowed, f"{file}: {result.verdict} on seed {seed}, not {item.verdict}")
                if file not in data.known:
                    gate.problems.append(f"{file}: did not run on seed {seed}")
                    continue
                failing = len(result.cases) - result.passed
                fewest[file] = min(fewest.get(file, failing), failing)
                own = known.misconception_of(item)
                named = matcher.decide(data.ranked(data.known[file], data.known.values()))
                right = named is not None and named.named and named.misconception == own
                gate.need(right, f"{file}: named {named.misconception if named else 'nothing'} on seed {seed}")
                rest = [p for other, p in (data.known | data.heldout).items() if other != file]
                ranking = data.ranked(data.known[file], rest)
                name, score = ranking[0] if ranking else ("nothing", 0.0)
                right = name == own
                gate.need(right or score < matcher.NAMED, f"{file}: others name it {name} ({score:.2f}) on seed {seed}")
                alone += not right
                lowest = min(lowest, (score, item.path.stem)) if right else lowest
            for file, result in data.judgements.items():
                gate.need(result.verdict in (Verdict.WA, Verdict.RE), f"{file}: {result.verdict} on seed {seed}")
        gate.figures.update(
            programs=len(fewest), seeds=len(WRONG_SEEDS), verdicts=verdicts,
            lowest_score=_short(lowest[0]), lowest=lowest[1], alone=alone,
            caught_by_one_case=sorted(Path(file).stem for file, count in fewest.items() if count == 1),
        )  # fmt: skip

    def _heldout(self, gate: Gate) -> None:
        """Held-out styles are named rightly; without its own programs a misconception is not given another name."""
        right = named = total = false = asked = trials = 0
        margin, wrong, falsely = (2.0, ""), [], []
        for seed in WRONG_SEEDS:
            data = self._seed(seed)
            for file, profile in data.heldout.items():
                ranking = data.ranked(profile, data.known.values())
                total += 1
                right += ranking[0][0] == profile.misconception
                named += ranking[0][0] == profile.misconception and ranking[0][1] >= matcher.NAMED
                if ranking[0][0] != profile.misconception:
                    wrong.append(f"{file} on seed {seed}: {ranking[0][0]} ({ranking[0][1]:.2f})")
                own = dict(ranking).get(profile.misconception, 0.0)
                other = next(score for name, score in ranking if name != profile.misconception)
                margin = min(margin, (own - other, profile.misconception))
            for file, profile in (data.known | data.heldout).items():
                others = [p for p in data.known.values() if p.misconception != profile.misconception]
                ranking = data.ranked(profile, others)
                decision = matcher.decide(ranking)
                trials += 1
                if decision is not None and decision.named:
                    false += 1
                    falsely.append(f"{file} on seed {seed}: {decision.misconception} ({decision.score:.2f})")
                asked += decision is not None and not decision.named
        gate.need(total > 0, "there are no held-out programs")
        if total and right < MIN_RIGHT * total:
            gate.problems.append(f"only {right} of {total} held-out programs are named rightly: {'; '.join(wrong[:5])}")
        if trials and false > MAX_FALSE * trials:
            gate.problems.append(f"{false} of {trials} programs get a false name: {'; '.join(falsely[:5])}")
        gate.figures.update(
            heldout=total, right_first=right, named=named, min_margin=_short(margin[0]), min_margin_of=margin[1],
            leave_one_out=trials, false_names=false, false_questions=asked,
        )  # fmt: skip

    def _separability(self, gate: Gate) -> None:
        """No two misconceptions do the same in all cases."""
        pairs = 0
        worst = (0.0, "", "")
        for seed in WRONG_SEEDS:
            data = self._seed(seed)
            profiles = list(data.known.values())
            for i, one in enumerate(profiles):
                for two in profiles[i + 1 :]:
                    if one.misconception != two.misconception:
                        pairs += 1
                        score = data.score(one, two)
                        worst = max(worst, (score, one.misconception, two.misconception))
        gate.need(worst[0] < matcher.NAMED, f"{worst[1]} and {worst[2]} look alike ({worst[0]:.2f})")
        gate.figures.update(pairs=pairs, closest=_short(worst[0]), closest_pair=[worst[1], worst[2]])

    # --- texts ------------------------------------------------------------------------------------------------------

    def _public(self) -> dict[str, str]:
        """Every text that a learner, or a learner's code, can read before the problem is solved."""
        package = self.package
        texts = {"statement": package.statement, "starter": package.starter, "summary": package.summary}
        texts |= {f"hint {i}": hint for i, hint in enumerate(package.hints, 1)}
        texts |= {f"misconception {k}": " ".join(row.values()) for k, row in package.misconceptions.items()}
        jail = Path(__file__).parent / "jail"
        return texts | {f"jail/{path.name}": path.read_text("utf-8") for path in sorted(jail.glob("*.py"))}

    def _secrecy(self, gate: Gate) -> None:
        """No piece of a right program and no hidden number stands where a learner can read it."""
        texts = self._public()
        secret = {size: self._secret(size) for size in (WINDOW, HELP_WINDOW)}
        figures = set()
        for seed in WRONG_SEEDS:
            for case in self.package.cases(seed):
                if case.group == "sample":
                    continue
                gate.need(not case.shown, f"{case.name}: a hidden case shows texts")
                remotes = [argument for argument in case.arguments if isinstance(argument, Remote)]
                gate.need(not any(remote.text for remote in remotes), f"{case.name}: a hidden case shows its formula")
                figures |= _telling(case)
        for name, text in texts.items():
            size = HELP_WINDOW if name.startswith(("hint", "misconception")) else WINDOW
            leaked = {secret[size][window] for window in _windows(text, size) & secret[size].keys()}
            gate.need(not leaked, f"{name} holds a piece of {', '.join(sorted(leaked))}")
            shown = {number for number in figures if number in text}
            gate.need(not shown, f"{name} holds hidden numbers: {', '.join(sorted(shown)[:3])}")
        gate.figures.update(texts=len(texts), windows=len(secret[WINDOW]), numbers=len(figures))

    def _secret(self, size: int) -> dict[tuple[str, ...], str]:
        """Runs of tokens of the accepted programs, without what the starter gives to everybody -> file."""
        free = _windows(self.package.starter, size)
        return {
            window: item.path.name
            for item in self.accepted
            for window in _windows(item.path.read_text("utf-8"), size) - free
        }

    def _readability(self, gate: Gate) -> None:
        """Hints and sentences are short and plain."""
        hardest, longest = (0.0, ""), (0, "")
        texts = [(f"hint {i}", hint, MAX_WORDS) for i, hint in enumerate(self.package.hints, 1)]
        for name, row in self.package.misconceptions.items():
            texts.append((name, row.get("sentence", ""), MAX_SENTENCE_WORDS))
        for name, text, most in texts:
            grade, count = readability.grade(text), readability.words(text)
            gate.need(count <= most, f"{name} has {count} words, at most {most} are wanted")
            gate.need(grade <= MAX_GRADE, f"{name} reads like grade {grade:.1f}, at most {MAX_GRADE:g} is wanted")
            hardest, longest = max(hardest, (grade, name)), max(longest, (count, name))
        gate.figures.update(
            texts=len(texts),
            hardest_grade=_short(hardest[0]),
            hardest=hardest[1],
            most_words=longest[0],
            longest=longest[1],
        )

    # --- the slow ones ----------------------------------------------------------------------------------------------

    def _mutation(self, gate: Gate) -> None:
        """Small changes of right programs are noticed, or waived by name with a reason."""
        waivers = _waivers(self.package.folder / "pixelbank" / "waivers.yaml")
        unused = set(waivers)
        scores: dict[str, float] = {}
        total = killed = waived = 0
        for item in self.accepted:
            made = mutants(item.path.stem, item.path.read_text("utf-8"))
            alive = [mutant for mutant in made if not self._killed(mutant)]
            unused -= {mutant.id for mutant in alive}
            open_ones = [mutant for mutant in alive if mutant.id not in waivers]
            counted = len(made) - (len(alive) - len(open_ones))
            scores[item.path.stem] = round((counted - len(open_ones)) / counted, 3) if counted else 1.0
            gate.need(
                scores[item.path.stem] >= MIN_MUTATION,
                f"{item.path.name}: only {scores[item.path.stem]:.0%} of its changes are noticed; not noticed: "
                + "; ".join(f"{m.id} (line {m.line}: {m.change})" for m in open_ones),
            )
            gate.figures.setdefault("survivors", []).extend(
                f"{m.id} {item.path.stem}:{m.line} {m.change}" for m in open_ones
            )
            total, killed, waived = (
                total + len(made),
                killed + len(made) - len(alive),
                waived + len(alive) - len(open_ones),
            )
        for name in sorted(unused):
            gate.problems.append(f"waivers.yaml: {name} waives nothing; remove it")
        gate.figures.update(mutants=total, killed=killed, waived=waived, lowest_score=min(scores.values(), default=1.0))

    def _killed(self, mutant: Mutant) -> bool:
        quick = replace(self.package, limits=replace(self.package.limits, case_seconds=MUTANT_SECONDS))
        return any(
            self.judge.judge(quick, mutant.source, self.package.cases(seed)).verdict is not Verdict.AC
            for seed in WRONG_SEEDS
        )

    def _in_sandbox(self, gate: Gate, sandbox: Sandbox) -> None:
        """In the real sandbox every program does the same, and right ones stay far below the time limit."""
        cases = self.package.cases(0)
        slowest = 0.0
        paths = [item.path for item in self.package.submissions if item.verdict != "TLE"] + self.heldout
        for path in paths:
            source = path.read_text("utf-8")
            here = observations(TrustedSandbox(), self.package, source, cases)
            there = observations(sandbox, self.package, source, cases)
            different = [c.name for c, a, b in zip(cases, here, there, strict=True) if not same_observation(a, b)]
            gate.need(not different, f"{path.name}: other observations in the sandbox in {', '.join(different)}")
            if path in [item.path for item in self.accepted]:
                slowest = max([slowest, *(seen.ms for seen in there)])
        wanted = max(MIN_TIME, TIME_FACTOR * slowest / 1000)
        limit = self.package.limits.case_seconds
        gate.need(limit >= wanted, f"the limit is {limit:g} s, but it should be at least {wanted:.1f} s")
        gate.figures.update(programs=len(paths), cases=len(cases), slowest_ms=round(slowest, 1), limit_s=limit)

    def _judged(self, path: Path, cases: Sequence[Case]) -> Judgement:
        return self.judge.judge(self.package, path.read_bytes(), cases)


def verify(folder: Path, slow: bool = False, sandbox: Sandbox | None = None) -> Iterator[Gate]:
    """All gates of the package in ``folder``; the first is whether it can be read at all."""
    gate = Gate(folder.name, "schema")
    try:
        package = load(folder)
    except PackageError as error:
        gate.problems.append(str(error))
        yield gate
        return
    gate.figures["digest"] = package.digest[:16]
    yield gate
    yield from Verifier(package).gates(slow, sandbox)


# --- small tools --------------------------------------------------------------------------------------------------


def observations(sandbox: Sandbox, package: Package, source: str, cases: Sequence[Case]) -> list[Observation]:
    """What a program does in each case. Raises ValueError when it cannot be loaded."""
    child = sandbox.start(package.limits)
    try:
        loaded = child.load(package.entry, source)
        if not loaded.ok:
            raise ValueError(f"the program cannot be loaded ({loaded.stage})")
        return [child.run(wire_arguments(case), oracle_of(case)) for case in cases]
    finally:
        child.close()


def same_observation(a: Observation, b: Observation) -> bool:
    """Equal in everything but time and what was printed."""
    return replace(a, ms=0.0, output="") == replace(b, ms=0.0, output="") or repr(
        replace(a, ms=0.0, output="")
    ) == repr(replace(b, ms=0.0, output=""))  # a NaN answer is not equal to itself, its text is


def _id_of(path: Path) -> str:
    """The misconception of a held-out program, by its file name: what stands before a double underscore."""
    return path.stem.split("__")[0].replace("_", "-")


def _short(value: float) -> float | None:
    """Three digits of a figure; None for one that was never measured."""
    return float(f"{value:.3g}") if np.isfinite(value) else None


def _safety(case: Case, result: CaseResult) -> float:
    """How many times the tolerance is larger than the error, in the worst entry; infinite without a finite error."""
    seen = result.observation
    got = numbers(seen.value) if seen is not None and seen.value is not None else None
    expected = np.asarray(case.expected, dtype=np.float64)
    if got is None or got.shape != expected.shape:
        return float("inf")
    with np.errstate(all="ignore"):
        error = np.abs(got - expected)
        factors = (case.atol + case.rtol * np.abs(expected)) / error
    return float(np.min(factors[np.isfinite(error) & (error > 0)], initial=np.inf))


def _windows(text: str, size: int) -> set[tuple[str, ...]]:
    """All runs of ``size`` code tokens. Prose is read the same way, so a program hidden in prose is found too."""
    try:
        kinds = (tokenize.NAME, tokenize.OP, tokenize.NUMBER)
        found = tokenize.generate_tokens(io.StringIO(text).readline)
        tokens = [token.string for token in found if token.type in kinds]
    except (tokenize.TokenError, SyntaxError, IndentationError):
        tokens = re.findall(r"\w+(?:\.\d+)?|[^\w\s`]", text)
    return {tuple(tokens[i : i + size]) for i in range(len(tokens) - size + 1)}


def _telling(case: Case) -> set[str]:
    """The expected numbers of a case that have enough digits to be told from chance."""
    told = set()
    for value in np.asarray(case.expected, dtype=np.float64).reshape(-1):
        text = repr(float(value))
        if len(text.strip("-0.").replace(".", "")) >= 5:
            told.add(text)
    return told


def _waivers(path: Path) -> dict[str, str]:
    """Hash -> reason."""
    data = yaml.safe_load(path.read_text("utf-8")) if path.is_file() else {}
    return {str(key): str(value) for key, value in (data or {}).items()}
