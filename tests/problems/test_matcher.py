"""The matcher names what it knows, in a style that it has never seen, and keeps silent about the rest."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems import packages
from problems.judge import known, matcher
from problems.judge.behaviour import Behaviour, behaviours
from problems.judge.verdicts import CaseResult, Observation, Verdict
from tests.conftest import SHARED
from tests.problems import styles
from tests.problems.programs import NAME, judged, programs

PROFILES = st.deferred(lambda: st.sampled_from([*programs().known.values(), *programs().heldout.values()]))
HELD_OUT = [path.stem + "*" for path in sorted((packages.CATALOGUE / NAME / "pixelbank" / "heldout").glob("*.py"))]
NORMAL = """
import numpy as np
def numerical_gradient(f, x, h=1e-5):
    p = np.array(x, dtype=float)
    g = np.zeros(p.shape)
    for i in np.ndindex(p.shape):
        e = np.zeros(p.shape)
        e[i] = h
        g[i] = (f(p + e) - f(p - e)) / (2 * h)
    return {answer}
"""


def test_every_misconception_of_the_corpus_has_a_known_and_a_held_out_program() -> None:
    wanted = {row["id"] for row in json.loads((SHARED / "corpus" / "misconceptions.json").read_text("utf-8"))}
    assert len(wanted) == 41
    assert wanted <= {profile.misconception for profile in programs().known.values()}
    assert wanted <= {profile.misconception for profile in programs().heldout.values()}


@pytest.mark.parametrize("stem", HELD_OUT)
def test_a_held_out_style_is_named_right(stem: str) -> None:
    wanted = programs().heldout[stem].misconception
    match = matcher.decide(matcher.rank(programs().known.values(), programs().judgements[stem].cases, programs().cases))
    assert match is not None
    assert (match.misconception, match.named) == (wanted, True), match
    assert match.margin >= matcher.MARGIN


def _named(source: str) -> matcher.Match | None:
    return matcher.decide(matcher.rank(programs().known.values(), judged(source).cases, programs().cases))


@pytest.mark.parametrize("walk", styles.WALKS)
def test_styles_made_by_rule_are_named_right(walk: str) -> None:
    right = styles.WALKS[walk].format(default="1e-6", start="pass", slope=styles.CENTRAL, end="return g")
    assert judged(right).verdict == "AC"
    made = [(name, source) for name, style, source in styles.generated() if style == walk]
    assert len(made) == 22
    named = {name: match for name, source in made if (match := _named(source))}
    wrong = {name: match for name, match in named.items() if match.misconception != name}
    assert wrong == {}
    assert sum(match.named for match in named.values()) >= 0.95 * len(made)


@pytest.mark.parametrize("end", styles.ENDS)
def test_of_two_errors_one_is_named_or_none(end: str) -> None:
    walk = styles.WALKS["closure"]
    for name, slope in styles.SLOPES.items():
        match = _named(walk.format(default="1e-6", start="pass", slope=slope, end=styles.ENDS[end]))
        assert match is None or match.misconception in (name, end), (name, match)


def test_an_unknown_misconception_gets_no_false_name() -> None:
    false = []
    profiles = [*programs().known.values(), *programs().heldout.values()]
    for profile in profiles:
        others = [other for other in programs().known.values() if other.misconception != profile.misconception]
        match = matcher.decide(matcher.ranked(others, profile.behaviours, programs().cases))
        if match is not None and match.named:
            false.append((profile.file, match.misconception, match.score))
    assert len(false) <= 0.02 * len(profiles), false


@pytest.mark.parametrize("answer", ["3 * g", "g + 1", "np.tanh(g)", "np.sort(g, axis=None).reshape(g.shape) - 1"])
def test_an_error_that_nobody_foresaw_stays_without_a_name(answer: str) -> None:
    result = judged(NORMAL.format(answer=answer))
    assert result.verdict == "WA"
    match = matcher.decide(matcher.rank(programs().known.values(), result.cases, programs().cases))
    assert match is None or not match.named, match


def test_a_right_program_has_no_misconception() -> None:
    result = judged(NORMAL.format(answer="g"))
    assert result.verdict == "AC"
    assert matcher.rank(programs().known.values(), result.cases, programs().cases) == []


def test_comments_and_names_change_nothing() -> None:
    plain = NORMAL.format(answer="-g")
    dressed = "# normalised, forward-difference, complex-step\n" + plain
    for old, new in (("e = np", "summed = np"), ("e[i]", "summed[i]"), ("+ e)", "+ summed)"), ("- e)", "- summed)")):
        assert old in dressed
        dressed = dressed.replace(old, new)
    one = behaviours(programs().cases, judged(plain).cases)
    two = behaviours(programs().cases, judged(dressed).cases)
    assert matcher.similarity(one, two, programs().cases) == pytest.approx(1.0)
    assert matcher.ranked(programs().known.values(), one, programs().cases) == matcher.ranked(
        programs().known.values(), two, programs().cases
    )


def test_what_was_not_run_says_nothing() -> None:
    results = list(programs().judgements["missing_two"].cases)
    full = matcher.rank(programs().known.values(), results, programs().cases)
    for index in range(5, len(results)):
        results[index] = dataclasses.replace(results[index], verdict=Verdict.SKIPPED, observation=None)
    part = matcher.rank(programs().known.values(), results, programs().cases)
    assert part[0] == full[0] == ("missing-two", pytest.approx(1.0))


def test_trusting_only_a_few_cases_first_finds_the_same() -> None:
    for stem in ("forward_difference*", "float32_kept*", "no_list_support*", "transposed*", "summed*", "hides_nan*"):
        results = programs().judgements[stem].cases
        quick = known.identify(programs().package, programs().cases, results)
        assert quick[0] == matcher.rank(programs().known.values(), results, programs().cases)[0], stem


@settings(deadline=None)
@given(PROFILES, PROFILES)
def test_similarity_is_symmetric_and_between_0_and_1(a: matcher.Profile, b: matcher.Profile) -> None:
    one = matcher.similarity(a.behaviours, b.behaviours, programs().cases)
    assert one == pytest.approx(matcher.similarity(b.behaviours, a.behaviours, programs().cases))
    assert 0.0 <= one <= 1.0


@settings(max_examples=30, deadline=None)
@given(PROFILES)
def test_a_program_is_like_itself(profile: matcher.Profile) -> None:
    assert matcher.similarity(profile.behaviours, profile.behaviours, programs().cases) > 0.89


@pytest.mark.parametrize(
    ("ranking", "named"),
    [
        ([], None),
        ([("a", 0.8), ("b", 0.79)], True),
        ([("a", 0.79), ("b", 0.5)], False),
        ([("a", 0.79), ("b", 0.72)], None),
        ([("a", 0.6)], False),
        ([("a", 0.59)], None),
    ],
)
def test_the_policy(ranking: list[tuple[str, float]], named: bool | None) -> None:
    match = matcher.decide(ranking)
    assert (match.named if match else None) is named


def test_passing_on_one_side_only_is_no_agreement() -> None:
    case = programs().cases[0]
    right, wrong = Behaviour(True, "returned"), Behaviour(False, "returned")
    assert matcher.agreement(right, wrong, case, own_step=False) == 0.0


def _observations(stem: str) -> list[Observation]:
    return [result.observation for result in programs().judgements[stem].cases if result.observation]


def test_known_programs_need_the_observations_of_all_cases() -> None:
    seen = _observations("missing_two")
    with pytest.raises(ValueError, match="zip"):
        matcher.profile(matcher.KnownWrong("missing_two", "missing-two", seen[:-1]), programs().cases)
    profile = matcher.profile(matcher.KnownWrong("missing_two", "missing-two", seen), programs().cases)
    assert repr(profile) == repr(programs().known["missing_two"])


def test_match_is_rank_and_policy_in_one() -> None:
    stem = "sign_flipped*"
    results: tuple[CaseResult, ...] = programs().judgements[stem].cases
    some = [
        matcher.KnownWrong(name, name.replace("_", "-"), _observations(name))
        for name in ("sign_flipped", "missing_two", "summed")
    ]
    match = matcher.match(some, results, programs().cases)
    assert match is not None
    assert match.misconception == "sign-flipped"
