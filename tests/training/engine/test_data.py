"""The text that ships, and its order of reading: a pure function of seed and step. Run apart: it needs torch."""

from __future__ import annotations

import hashlib
import json
import math

import pytest

from tests.conftest import run_python
from tests.environment import ROOT

DATA = ROOT / "training" / "data"


def test_the_text_is_the_one_that_the_notice_describes() -> None:
    raw = (DATA / "shakespeare.txt").read_bytes()
    assert hashlib.sha256(raw).hexdigest() == (DATA / "shakespeare.sha256").read_text().split()[0]
    assert raw.isascii()
    assert 1_000_000 < len(raw) < 1_300_000
    assert len(set(raw)) == 67
    assert "public domain" in (DATA / "NOTICE").read_text()


@pytest.fixture(scope="module")
def seen() -> dict[str, object]:
    """What another process sees; the tests themselves never import torch."""
    code = """
import json
from training.engine.data import baselines, batch_rows, corpus, offsets
text = corpus()
whole = batch_rows(text, 32, seed=7, step=3, batch=12)
shares = [batch_rows(text, 32, 7, 3, 12, first=4 * rank, rows=4) for rank in range(3)]
print(json.dumps({
    "offsets": offsets(7, 3, 4, 1000),
    "other_step": offsets(7, 4, 4, 1000),
    "other_seed": offsets(8, 3, 4, 1000),
    "shape": list(whole[0].shape),
    "shares": [sum((share[i].tolist() for share in shares), []) == whole[i].tolist() for i in (0, 1)],
    "shifted": whole[0][:, 1:].tolist() == whole[1][:, :-1].tolist(),
    "text": text.decode(text.ids[:7].tolist()),
    "length": len(text.ids), "vocabulary": len(text.alphabet), "baselines": baselines(),
    "starts": sorted(start for step in range(400) for start in offsets(1, step, 24, 1000)),
}))
"""
    done = run_python(code)
    assert done.returncode == 0, done.stderr
    result: dict[str, object] = json.loads(done.stdout)
    return result


def test_batches_depend_on_seed_and_step_alone(seen: dict[str, object]) -> None:
    def start(row: int) -> int:
        return int.from_bytes(hashlib.blake2b(f"7/3/{row}".encode(), digest_size=8).digest(), "big") % 1000

    assert seen["offsets"] == [start(row) for row in range(4)]
    assert seen["offsets"] != seen["other_step"] != seen["other_seed"] != seen["offsets"]


def test_starts_are_spread_over_the_text(seen: dict[str, object]) -> None:
    starts = seen["starts"]
    assert isinstance(starts, list)
    counts = [sum(1 for start in starts if start // 100 == tenth) for tenth in range(10)]
    expected = len(starts) / 10
    chi_squared = sum((count - expected) ** 2 / expected for count in counts)
    assert chi_squared < 27.9  # 9 degrees of freedom, p = 0.001


def test_ranks_slice_the_global_batch(seen: dict[str, object]) -> None:
    assert seen["shape"] == [12, 32]
    assert seen["shares"] == [True, True]
    assert seen["shifted"] is True


def test_text_and_baselines(seen: dict[str, object]) -> None:
    assert seen["text"] == "ACT I.\n"
    assert (seen["length"], seen["vocabulary"]) == (len((DATA / "shakespeare.txt").read_bytes()), 67)
    baselines = seen["baselines"]
    assert isinstance(baselines, dict)
    assert baselines["uniform"] == pytest.approx(math.log(67))
    assert 2.0 < baselines["bigram"] < baselines["unigram"] < baselines["uniform"]
