"""The section files: everything a finished section must have, and what the linter says when it is missing."""

from __future__ import annotations

import copy
import re

import pytest

from pixelbank.chapters import content
from pixelbank.chapters.facts import FactError, all_facts

SOURCES = content.sources("pretraining")
SECTION = SOURCES["gradients-checked-numerically"]


def altered(body=None, **front):
    """A copy of a good section with something changed; None removes an entry of the front matter."""
    new = copy.deepcopy(SECTION.front)
    for name, value in front.items():
        if value is None:
            del new[name]
        else:
            new[name] = value
    return content.Source(SECTION.slug, new, SECTION.body if body is None else body)


@pytest.mark.parametrize("slug", SOURCES)
def test_every_section_is_ready(slug):
    assert content.lint(SOURCES[slug]) == []


def test_the_outline_holds_23_sections_in_5_parts():
    outline = content.outline("pretraining")
    assert len(outline.parts) == 5
    assert [section.number for section in outline.sections] == list(range(1, 24))
    assert len({section.slug for section in outline.sections}) == 23
    assert set(SOURCES) <= {section.slug for section in outline.sections}
    assert all(section.goal.endswith(".") for section in outline.sections)


@pytest.mark.parametrize("name", ["question", "minutes", "prediction", "quiz", "cards", "sources"])
def test_a_missing_part_is_named(name):
    assert any(f"no {name}" in complaint for complaint in content.lint(altered(**{name: None})))


def test_an_option_without_feedback_is_named():
    quiz = copy.deepcopy(SECTION.front["quiz"])
    quiz[0]["options"][1]["feedback"] = ""
    assert any("has no feedback" in complaint for complaint in content.lint(altered(quiz=quiz)))


@pytest.mark.parametrize("right", [0, 2])
def test_a_question_has_exactly_one_right_option(right):
    quiz = copy.deepcopy(SECTION.front["quiz"])
    for at, option in enumerate(quiz[0]["options"]):
        option["right"] = at < right
    assert any("exactly one option must be right" in complaint for complaint in content.lint(altered(quiz=quiz)))


def test_two_questions_cannot_share_an_id():
    quiz = copy.deepcopy(SECTION.front["quiz"])
    quiz[1]["id"] = quiz[0]["id"]
    assert any("an id of its own" in complaint for complaint in content.lint(altered(quiz=quiz)))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda body: body + " word" * 900, "words; at most 900"),
        (lambda body: re.sub(r":::[^\n]*", "", body), "it has no figure"),
        (lambda body: body.replace("h=1e-8)", "h=2)"), "h=2 is outside"),
        (lambda body: body.replace("(#slope?f=cube&x=1.5&h=0.5)", "(#slope?speed=2)"), "no setting 'speed'"),
        (lambda body: body.replace("#slope?f=offset", "#elsewhere?f=offset"), "'elsewhere' that is not there"),
        (lambda body: body.replace("(fact:grad-true)", "(fact:grad-nowhere)"), "no fact 'grad-nowhere'"),
        (lambda body: body.replace("[6.75](fact", "[6.76](fact"), "the text shows '6.76'"),
        (lambda body: body + "\n\nIt takes 3.14 seconds.", "the number 3.14 has no fact"),
        (lambda body: body + "\n\nAbout 5e−3 of them.", "the number 5e−3 has no fact"),
        (lambda body: body + "\n\nIt was 16384 bytes.", "the number 16384 has no fact"),
        (lambda body: body.replace("::: worked", "::: wroked"), "unknown container 'wroked'"),
    ],
)
def test_the_linter_finds(change, complaint):
    assert any(complaint in found for found in content.lint(altered(body=change(SECTION.body))))


def test_a_section_with_a_fault_is_not_published():
    with pytest.raises(content.ContentError, match="no question"):
        content.publish("pretraining", altered(question=None))


def test_publishing_twice_gives_the_same_hash_and_a_changed_word_another():
    first = content.publish("pretraining", SECTION)
    assert content.publish("pretraining", SECTION).content_hash == first.content_hash
    changed = altered(body=SECTION.body.replace("too simple to get wrong", "very simple"))
    assert content.publish("pretraining", changed).content_hash != first.content_hash


@pytest.mark.parametrize("slug", SOURCES)
def test_published_html_has_no_inline_style_or_script_and_no_broken_anchor(slug):
    made = content.publish("pretraining", SOURCES[slug])
    html = made.html
    assert not re.search(r"<script|\son\w+=|[^y]style=", html)
    ids = re.findall(r'\sid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    facts = {f"fact-{fact['name']}" for fact in made.extras["facts"]}
    for target in re.findall(r'href="#([^"]+)"', html):
        assert target in ids or target in facts
    assert html.count('role="img"') >= 1, "a figure's first frame has a text alternative"


def test_paragraphs_keep_their_ids_when_text_elsewhere_changes():
    before = content.publish("pretraining", SECTION).html
    after = content.publish("pretraining", altered(body="A new first paragraph.\n\n" + SECTION.body)).html
    kept = set(re.findall(r'id="(p-[0-9a-f]+)"', before))
    assert len(kept) >= 9
    assert kept <= set(re.findall(r'id="(p-[0-9a-f]+)"', after))


@pytest.mark.parametrize("name", all_facts())
def test_a_fact_is_what_the_text_says(name):
    all_facts()[name].check()


def test_every_fact_is_used_and_every_used_fact_exists():
    used = {name for source in SOURCES.values() for name in re.findall(r"\(fact:([\w-]+)\)", source.body)}
    assert used == set(all_facts())


@pytest.mark.parametrize("shown", ["1.4e−9", "1.5e−10", "14", "nothing"])
def test_a_fact_that_says_something_else_is_refused(shown):
    from dataclasses import replace

    with pytest.raises(FactError):
        replace(all_facts()["grad-central-5"], shown=shown).check()
