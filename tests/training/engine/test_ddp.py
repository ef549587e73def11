"""Data parallelism computes what one process computes, and its events say truly what was sent and when."""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any

import pytest

from tests.training.conftest import Event, of_kind

Completed = Callable[..., list[Event]]


def parity(events: list[Event]) -> dict[str, Any]:
    found: dict[str, Any] = events[-1]["parity"]
    return found


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_float32_agrees_within_its_tolerance(completed: Completed, ranks: int) -> None:
    proof = parity(completed(ranks=ranks))
    assert proof["holds"]
    assert proof["steps"] == 20
    assert proof["max_dparam"] <= proof["tolerance"] == 1e-4
    assert proof["max_dloss"] <= 5e-6
    if ranks > 1:  # another order of summation: exact equality would mean that nothing was compared
        assert proof["max_dparam"] > 0


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_float64_agrees_to_1e_minus_12(completed: Completed, optimizer: str) -> None:
    proof = parity(completed(ranks=2, dtype="float64", optimizer=optimizer))
    assert proof["holds"]
    assert proof["max_dparam"] <= 1e-12
    assert proof["max_dloss"] <= 1e-13


def test_sgd_in_float32(completed: Completed) -> None:
    assert parity(completed(ranks=2, optimizer="sgd"))["max_dparam"] <= 5e-7


@pytest.mark.slow
@pytest.mark.parametrize("model", ["tiny", "small"])
def test_four_ranks_and_larger_models(completed: Completed, model: str) -> None:
    events = completed(ranks=4, model=model, steps=10)
    assert parity(events)["holds"]
    assert events[-1]["replicas_identical"]


def test_a_training_that_differs_does_not_get_a_certificate(completed: Completed) -> None:
    """A learning rate far beyond stability amplifies the last bits until the runs part: the comparison must notice."""
    proof = parity(completed(ranks=2, learning_rate=0.3, steps=60, parity_steps=60))
    assert not proof["holds"]


def test_bytes_of_the_buckets_are_the_size_of_the_gradients(completed: Completed) -> None:
    for dtype, size in (("float32", 4), ("float64", 8)):
        events = completed(ranks=2, dtype=dtype, optimizer="adamw")
        done = events[-1]
        sums: dict[tuple[int, int], int] = {}
        for sent in of_kind(events, "comm"):
            sums[sent["rank"], sent["step"]] = sums.get((sent["rank"], sent["step"]), 0) + sent["bytes"]
        assert len(sums) == 2 * 20
        assert set(sums.values()) == {size * done["parameters"]} == {done["bytes_per_step"]}
        assert done["wire_bytes_per_rank"] == done["bytes_per_step"]  # 2 (N-1) / N = 1 for two ranks


def test_small_buckets_are_many_and_change_nothing(completed: Completed) -> None:
    few, many = completed(ranks=2, bucket_kb=1024), completed(ranks=2, bucket_kb=20)

    def buckets(events: list[Event]) -> int:
        return len([sent for sent in of_kind(events, "comm") if (sent["rank"], sent["step"]) == (0, 19)])

    assert buckets(few) == 1
    assert buckets(many) > 1
    assert few[-1]["params_sha256"] == many[-1]["params_sha256"]


def test_the_events_of_a_run(completed: Completed) -> None:
    events = completed(ranks=2)
    assert events[0]["event"] == "start"
    assert events[0]["backend"] == "gloo"
    assert "2 cores" in events[0]["note"] or "cores)" in events[0]["note"]
    assert [event["step"] for event in of_kind(events, "step")] == list(range(20))
    assert [event["step"] for event in of_kind(events, "twin")] == list(range(20))
    assert events[-1]["event"] == "done"
    losses = [event["loss"] for event in of_kind(events, "step")]
    assert losses[0] == pytest.approx(4.2, abs=0.1)  # ln 67: it knows nothing yet
    assert losses[-1] < losses[0] - 0.5
    assert events[-1]["loss"] == losses[-1]
    assert events[-1]["tokens_per_s"] > 0
    for step in of_kind(events, "step"):
        assert step["loss"] == pytest.approx(sum(rank["loss"] for rank in step["ranks"]) / 2)


def test_spans_lie_inside_their_step_and_in_order(completed: Completed) -> None:
    events = completed(ranks=2)
    for rank in (0, 1):
        end = 0.0
        for step in range(20):
            mine = [event for event in events if event.get("rank") == rank and event.get("step") == step]
            spans = {event["name"]: event for event in mine if event["event"] == "span"}
            assert list(spans) == ["forward", "backward", "wait", "optimizer"]
            assert end <= spans["forward"]["start"]
            for before, after in zip(list(spans.values()), list(spans.values())[1:], strict=False):
                assert before["start"] <= before["end"] <= after["start"]
            for sent in of_kind(mine, "comm"):
                assert spans["backward"]["start"] <= sent["start"] <= sent["end"] <= spans["wait"]["end"]
            end = spans["optimizer"]["end"]


def test_the_same_config_gives_the_same_parameters(completed: Completed) -> None:
    again = completed(ranks=2, deadline_s=599.0)  # another run, as far as the cache knows
    assert again[-1]["params_sha256"] == completed(ranks=2)[-1]["params_sha256"]
    assert completed(ranks=2, seed=2)[-1]["params_sha256"] != again[-1]["params_sha256"]


def test_single_is_its_own_reference(completed: Completed) -> None:
    events = completed(strategy="single", ranks=1)
    assert (parity(events)["max_dparam"], parity(events)["max_dloss"]) == (0.0, 0.0)
    assert events[-1]["bytes_per_step"] == 0
    losses = [event["loss"] for event in of_kind(completed(ranks=2), "step")]
    assert [event["loss"] for event in of_kind(events, "step")] == pytest.approx(losses, abs=5e-6)


def test_the_standard_platform_module_works_in_a_rank(completed: Completed) -> None:
    assert {event["system"] for event in of_kind(completed(ranks=2), "ready")} == {platform.system()}
