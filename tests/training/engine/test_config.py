"""What a run may be: bounds, sentences for what is wrong, and the command that repeats it."""

from __future__ import annotations

import json
import math
import re
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.engine.cli import config_from, parser
from training.engine.config import BOUNDS, ConfigError, RunConfig


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"strategy": "pipeline"}, "choose one of ddp, single"),
        ({"ranks": 0}, "between 1 and 8"),
        ({"ranks": 9}, "between 1 and 8"),
        ({"steps": 0}, "between 1 and 2000"),
        ({"seed": -1}, "seed is -1"),
        ({"learning_rate": math.nan}, "learning_rate is nan"),
        ({"learning_rate": 0.0}, "learning_rate is 0"),
        ({"ranks": 2.0}, "whole number"),
        ({"ranks": True}, "whole number"),
        ({"steps": "20"}, "whole number"),
        ({"deadline_s": None}, "a number, not None"),
        ({"device": "tpu"}, "choose one of auto, cpu, cuda"),
        ({"dtype": "float16"}, "choose one of float32, float64"),
        ({"model": ["tiny"]}, "choose one of nano, tiny, small"),
        ({"strategy": "single", "ranks": 2}, "runs in one process"),
        ({"ranks": 5}, "cannot be shared equally by 5 ranks"),
        ({"code": "import os"}, "no setting named 'code'"),
    ],
)
def test_a_wrong_setting_is_one_clear_sentence(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(says)) as caught:
        RunConfig.from_mapping(settings)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


@given(
    ranks=st.sampled_from([1, 2, 3, 4, 6, 8]),
    steps=st.integers(1, 2000),
    seed=st.integers(0, 2**31 - 1),
    dtype=st.sampled_from(["float32", "float64"]),
    optimizer=st.sampled_from(["adamw", "sgd"]),
    learning_rate=st.none() | st.floats(1e-6, 10.0),
    parity_steps=st.integers(0, 200),
)
def test_json_and_command_line_give_the_same_run_again(**settings: Any) -> None:
    config = RunConfig(**settings)
    assert RunConfig.from_mapping(json.loads(json.dumps(config.to_json()))) == config
    words = config.command().split()
    assert words[:3] == ["python", "-m", "training.engine"]
    assert config_from(parser().parse_args(words[3:])) == config


VALUES = st.none() | st.integers() | st.sampled_from(["", "ddp", "tiny", "2"])


@given(st.dictionaries(st.sampled_from([f.name for f in fields(RunConfig)]), VALUES))
def test_whatever_is_given_is_a_valid_run_or_a_config_error(settings: dict[str, Any]) -> None:
    try:
        config = RunConfig.from_mapping(settings)
    except ConfigError:
        return
    for name, (low, high) in BOUNDS.items():
        value = config.rate if name == "learning_rate" else getattr(config, name)
        assert low <= value <= high
    assert config.rows_per_rank * config.ranks == config.batch


def test_the_reference_is_one_process_over_the_compared_steps() -> None:
    reference = RunConfig(ranks=4, steps=80, parity_steps=30).reference()
    assert (reference.strategy, reference.ranks, reference.steps, reference.parity_steps) == ("single", 1, 30, 0)
    assert RunConfig(steps=10, parity_steps=30).reference().steps == 10
