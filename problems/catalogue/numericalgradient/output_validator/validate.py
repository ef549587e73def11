"""The interactive output validator: ``validate.py input_file answer_file feedback_dir/``.

It answers the calls of f itself, judges with the checker of the site, and names the misconception as the site does, so
both give the same verdict. Needs this repository on PYTHONPATH; the answer file is empty, since answers are computed.
Exit status 42 accepted, 43 wrong, with the reason in judgemessage.txt; anything else is the judge's own fault.
"""

from __future__ import annotations

import sys
from pathlib import Path

import problems
from problems.judge.diagnosis import diagnose
from problems.judge.judge import Judge
from problems.judge.lines import LineSandbox
from problems.judge.package import load
from problems.judge.testdata import read_case
from problems.judge.verdicts import Verdict

HERE = Path(__file__).resolve().parents[1]
# a judging system may run a copy of this program that stands alone
SHIPPED = Path(problems.__file__).parent / "catalogue" / "numericalgradient"
PACKAGE = HERE if (HERE / "problem.yaml").is_file() else SHIPPED


def main(input_file: str, answer_file: str, feedback_dir: str) -> int:
    """The exit status for one test case."""
    package = load(PACKAGE)
    cases = package.cases_of(read_case(Path(input_file)))
    lines = LineSandbox(sys.stdin.buffer, sys.stdout.buffer)
    judgement = Judge(lines).judge(package, "", cases)
    lines.end()
    if judgement.verdict is Verdict.JE:
        return 1
    message = f"{judgement.verdict}: {judgement.message}\n"
    if judgement.verdict is not Verdict.AC:
        diagnosis = diagnose(package, cases, judgement)
        if diagnosis.match is not None:
            message += f"misconception: {diagnosis.match.misconception}\n"
        if diagnosis.message != judgement.message:
            message += f"{diagnosis.message}\n"
    (Path(feedback_dir) / "judgemessage.txt").write_text(message, "utf-8")
    return 42 if judgement.verdict is Verdict.AC else 43


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
