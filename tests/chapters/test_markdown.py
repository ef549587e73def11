"""What an administrator's Markdown can and cannot become."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pixelbank.core import markdown, mathlock


def test_ordinary_text_becomes_html():
    html = markdown.render(
        "## A title\n\nSome *text* with `code`, a [link](https://example.org/) and a note.[^1]\n\n[^1]: The note."
    )
    assert '<h2 id="a-title">A title</h2>' in html
    assert '<a href="https://example.org/" rel="noopener">link</a>' in html
    assert "<em>text</em>" in html
    assert "The note." in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        'text <img src=x onerror="alert(1)"> text',
        "[a](javascript:alert(1))",
        "[a](JaVaScRiPt:alert(1))",
        "[a](  javascript:alert(1))",
        "[a](java&#115;cript:alert(1))",
        "[a](data:text/html,<script>alert(1)</script>)",
        "[a](vbscript:x)",
        "[a](//evil.example/x)",
        "![a](javascript:alert(1))",
        "<javascript:alert(1)>",
        '[a](https://example.org/ "\\" onmouseover=alert(1)")',
        '```"><script>\ncode\n```',
        "| a |\n|---|\n| <b onclick=x> |",
        "[a]: javascript:alert(1)\n\n[a]",
        "## <script>x</script>",
        '::: note id="a<b"\n:::',
    ],
)
def test_nothing_that_runs_survives(text):
    try:
        html = markdown.render(text)
    except markdown.MarkdownError:
        return
    live = _tags_and_attributes(html)
    assert not any(tag == "script" for tag, _ in live)
    for _, attributes in live:
        for name, value in attributes:
            assert not name.startswith("on")
            assert name != "style"
            if name in ("href", "src"):
                assert not (value or "").strip().lower().startswith(("javascript:", "vbscript:", "data:", "//"))


@given(st.text(alphabet="<>\"'[]()!:&;#`|\\ \n-scriptjavonerx=/", max_size=80))
def test_no_text_makes_a_script_or_a_handler(text):
    try:
        html = markdown.render(text)
    except markdown.MarkdownError:
        return
    for tag, attributes in _tags_and_attributes(html):
        assert tag != "script"
        assert not any(name.startswith("on") for name, _ in attributes)


def _tags_and_attributes(html):
    from html.parser import HTMLParser

    found = []

    class Collect(HTMLParser):
        def handle_starttag(self, tag, attrs):
            found.append((tag, attrs))

    Collect().feed(html)
    return found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("text\n\n::: pb-nonsense\n:::", "line 3: unknown container 'pb-nonsense'; known: note"),
        ("::: pb-ring-allreduce n=17\n:::", "line 1: pb-ring-allreduce: n=17 is outside 2 to 16"),
        ("::: pb-ring-allreduce n=four\n:::", "n='four' is not a whole number"),
        ("::: pb-ring-allreduce n=4.5\n:::", "n='4.5' is not a whole number"),
        ("::: pb-difference-error h=nan\n:::", "h=nan is outside 1e-16 to 1"),
        ("::: pb-difference-error f=evil\n:::", "f='evil' is not one of cube, square"),
        ("::: pb-ring-allreduce onclick=x\n:::", "has no attribute 'onclick'; it has id, n"),
        ("::: pb-ring-allreduce n=4 n=5\n:::", "n is given twice"),
        ("::: pb-ring-allreduce 4\n:::", "write attributes as name=value, not '4'"),
        ("::: pb-ring-allreduce id=A<b\n:::", "may hold only a-z, 0-9 and -"),
        ('::: note id="open\n:::', "cannot read the container's attributes"),
    ],
)
def test_a_wrong_container_is_an_error_with_its_line(text, message):
    with pytest.raises(markdown.MarkdownError) as error:
        markdown.render(text)
    assert message in str(error.value)


def test_a_figure_carries_its_first_frame_and_its_caption():
    html = markdown.render("::: pb-ring-allreduce id=ring n=4\nThe *caption*.\n:::")
    assert html.startswith('<figure id="ring" class="figure wide">\n<pb-ring-allreduce figure="ring" n="4">')
    assert '<svg class="scene fits"' in html
    assert "<figcaption>\n<p>The <em>caption</em>.</p>\n</figcaption>" in html


def test_table_columns_are_aligned_without_inline_styles():
    html = markdown.render("| a | b |\n|--:|---|\n| 1 | 2 |")
    assert 'class="align-right"' in html
    assert "style=" not in html


def test_code_is_highlighted_and_unknown_languages_are_only_escaped():
    assert '<span class="k">def</span>' in markdown.render("```python\ndef f(): pass\n```")
    assert "&lt;b&gt;" in markdown.render("```nosuchlanguage\n<b>\n```")


def test_a_formula_comes_from_the_lock_file_with_its_source_and_no_style():
    html = markdown.render(
        "$$\\theta_{t+1} = \\theta_t - \\frac{\\eta}{N}\\sum_{i=1}^{N} \\nabla_{\\theta}\\mathcal{L}_i(\\theta_t)$$"
    )
    assert "<mfrac>" in html
    assert "\\frac{\\eta}{N}" in html, "the TeX source is kept as an annotation"
    assert " style=" not in html


def test_a_formula_without_mathml_is_a_clear_error():
    with pytest.raises(markdown.MarkdownError) as error:
        markdown.render("$x_{never written}$")
    assert "no MathML yet" in str(error.value)
    assert "render_math" in str(error.value)


def test_prices_are_not_formulas():
    assert list(markdown.formulas("It costs $5 here and $6 there.")) == []


def test_the_lock_file_matches_all_texts():
    wanted = {mathlock.key(formula) for formula in mathlock.all_formulas()}
    assert wanted == set(mathlock.locked()), "run: python manage.py render_math"
    assert not any(" style=" in mathml for mathml in mathlock.locked().values())


def test_temml_still_makes_what_the_lock_file_holds(node):
    mathml = mathlock.render(mathlock.all_formulas())
    assert mathml == mathlock.locked()


def test_a_formula_that_temml_cannot_read_is_named(node):
    with pytest.raises(mathlock.MathError) as error:
        mathlock.render([("\\nosuchcommand", False)])
    assert "nosuchcommand" in str(error.value)
    assert "\n" not in str(error.value)
