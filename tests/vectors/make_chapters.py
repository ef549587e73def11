"""Write the vectors that the Python and TypeScript twins of the chapter's figures are both tested on.

Run `python tests/vectors/make_chapters.py` after a deliberate change of a core or a drawing, then read the diff.
`tests/chapters/test_vectors.py` fails while the files and the Python twins differ; Vitest does the same for TypeScript.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pixelbank.chapters.cores import difference_error as diff
from pixelbank.chapters.cores import ring_allreduce as ring
from pixelbank.chapters.figures import difference_error as diff_figure
from pixelbank.chapters.figures import ring_allreduce as ring_figure
from pixelbank.core.scene import Scene

HERE = Path(__file__).parent

# (devices, values per device): equal chunks, uneven ones, fewer values than devices.
RINGS = ((2, 2), (3, 3), (4, 4), (5, 7), (8, 8), (6, 3))
DRAWN = ((4, 0), (4, 1), (4, 5), (7, 3), (8, 3), (16, 30))
PLACES = (("cube", 1.5), ("square", 3.0), ("inverse", 0.5), ("root", 2.0), ("root", 0.0), ("offset", 3.0))
LIBRARY_PLACES = (("exp", 1.0), ("sin", 0.7), ("tanh", 1.0))
PICTURES = (("cube", 1.5, 0.5), ("cube", 1.5, 1e-5), ("cube", 1.5, 1e-15), ("root", 2.0, 0.1), ("inverse", 0.5, 1e-8))
NUMBERS = (0.0, 1.0, -2.5, 1e-16, 3.38e-9, 1e5, 123456789.0, 0.001, 6.75, 9.99e-4, float("nan"), float("inf"))


def _scene(scene: Scene) -> dict[str, Any]:
    return {"width": scene.width, "height": scene.height, "shapes": scene.shapes}


def _json(value: Any) -> Any:
    """NaN and infinity as words: JSON has no way to write them."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return repr(value)
    if isinstance(value, dict):
        return {key: _json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json(item) for item in value]
    return value


def ring_vectors() -> dict[str, Any]:
    cases = []
    for devices, values in RINGS:
        buffers = [[float((d * 31 + i * 17) % 23 - 11) / 4 for i in range(values)] for d in range(devices)]
        frames = ring.ring_allreduce(buffers)
        cases.append(
            {
                "buffers": buffers,
                "bounds": ring.chunk_bounds(values, devices),
                "frames": [asdict(frame) for frame in frames],
                "sentences": [ring.describe(frames, step) for step in range(len(frames))],
                "table": ring_figure.table_rows(frames),
            }
        )
    drawings = []
    for devices, step in DRAWN:
        frames = ring.ring_allreduce(ring.example_gradients(devices))
        drawings.append(
            {
                "devices": devices,
                "step": step,
                "scene": _scene(ring_figure.scene(frames[step])),
                "count": ring_figure.count_sentence(frames),
            }
        )
    return _json({"cases": cases, "drawings": drawings})


def difference_vectors() -> dict[str, Any]:
    def estimates(places: tuple[tuple[str, float], ...]) -> list[dict[str, Any]]:
        return [{"f": f, "x": x, "curve": [asdict(e) for e in diff.error_curve(f, x)]} for f, x in places]

    return _json(
        {
            "steps": diff.STEPS,
            "exact": estimates(PLACES),
            "library": estimates(LIBRARY_PLACES),
            "numbers": [{"value": v, "text": diff.number(v), "long": diff.number(v, 6)} for v in NUMBERS],
            "sentences": [
                {"f": f, "x": x, "best": diff_figure.best_sentence(f, x), "at": diff.describe(f, x, 1e-5)}
                for f, x in PLACES
            ],
            "pictures": [
                {
                    "f": f,
                    "x": x,
                    "h": h,
                    "secants": _scene(diff_figure.secants(f, x, h)),
                    "errors": _scene(diff_figure.errors(f, x, h)),
                }
                for f, x, h in PICTURES
            ],
        }
    )


FILES = {"ring-allreduce.json": ring_vectors, "difference-error.json": difference_vectors}

if __name__ == "__main__":
    for name, make in FILES.items():
        (HERE / name).write_text(json.dumps(make(), ensure_ascii=False) + "\n", encoding="utf-8")
