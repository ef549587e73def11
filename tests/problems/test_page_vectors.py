"""The pictures of evidence are what the shared file says; the browser's twin is tested on the same file."""

from __future__ import annotations

import json

from tests.vectors import make_evidence


def test_the_file_is_what_the_cores_say() -> None:
    made = json.loads(json.dumps(make_evidence.vectors()))
    assert json.loads(make_evidence.FILE.read_text(encoding="utf-8")) == made


def test_sentences_say_where_f_was_called() -> None:
    said = {row["name"]: row["sentence"] for row in json.loads(make_evidence.FILE.read_text(encoding="utf-8"))}
    assert said["forward_difference in sample 3"].startswith(
        "You called f at 1.5 and 2; the formula calls it at 1 and 2"
    )
    assert "where the formula calls it too" in said["missing_two in sample 3"]
    assert "together with other entries" in said["all_dims_at_once in coupled"]
    assert "first 6 entries" in said["higher_order_stencil in many"]
