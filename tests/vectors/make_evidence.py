"""Write the vectors that the Python and TypeScript twins of the evidence's pictures are both tested on.

Run `python -m tests.vectors.make_evidence` after a deliberate change, then read the diff.
`tests/problems/test_page_vectors.py` fails while file and Python twin differ; Vitest does the same for TypeScript.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from problems import drawing, packages
from problems.judge.evidence import evidence
from problems.judge.judge import Judge
from problems.judge.trusted import TrustedSandbox
from problems.judge.verdicts import Verdict

FILE = Path(__file__).parent / "evidence.json"
WIDTHS = (250, 360, 560)
# (program, open case): curves with one wrong point, with a wrong slope only, far away, NaN; strips alone and together.
SHOWN = (
    ("forward_difference", "sample 3"),
    ("missing_two", "sample 3"),
    ("missing_two", "sample 2"),
    ("step_scaled_by_x", "number"),
    ("hard_coded_step", "whole-number"),
    ("all_dims_at_once", "coupled"),
    ("sign_flipped", "cube"),
    ("double_step", "matrix"),
    ("hides_nan", "nan"),
    ("higher_order_stencil", "many"),
)


def vectors() -> list[dict[str, Any]]:
    """Each drawing with its scenes at all widths."""
    package = packages.get("numericalgradient")
    open_ = {case.name: case for case in (*package.samples(), *package.feedback(1))}
    made = []
    for name, case_name in SHOWN:
        source = next((package.folder / "submissions").glob(f"*/{name}.py")).read_text("utf-8")
        judged = Judge(TrustedSandbox()).judge(package, source, [open_[case_name]]).cases[0]
        data = evidence(open_[case_name], judged)["drawing"]
        if judged.verdict is not Verdict.WA or data is None:
            raise ValueError(f"{name} is not drawn by {case_name}")
        scenes = [drawing.scene(data, width) for width in WIDTHS]
        made.append(
            {
                "name": f"{name} in {case_name}",
                "drawing": data,
                "sentence": drawing.sentence(data),
                "scenes": [{"width": s.width, "height": s.height, "shapes": s.shapes} for s in scenes],
            }
        )
    return made


if __name__ == "__main__":
    FILE.write_text(json.dumps(vectors(), ensure_ascii=False) + "\n", encoding="utf-8")
