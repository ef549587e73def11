"""Markdown to HTML, for text written by the people who run this site.

Raw HTML is off, links may only go to http, https, mailto or within the site, containers come from the
registry in `core.elements`, and formulas from the lock file in `core.mathlock`. HTML that strangers wrote
(feeds) does not come through here: it is cleaned by nh3 where it is fetched.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin
from mdit_py_plugins.container import container_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from pixelbank.core import elements, mathlock

_SAFE_LINK = re.compile(r"(https?://|mailto:|/(?!/)|#|\?|[\w.-]+(/|$|#|\?))", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_CONTAINER = "pb"
_WITH_IDS = ("paragraph_open", "bullet_list_open", "ordered_list_open", "dl_open", "blockquote_open")

LinkResolver = Callable[[str], dict[str, str] | None]
"""Given a link's target, the attributes its `<a>` gets instead; None leaves the link as it is."""


class MarkdownError(ValueError):
    """A text that cannot be published: one clear sentence, with the line where that is known."""


@dataclass(frozen=True)
class Rendering:
    """What a caller may choose: how links are resolved, where MathML comes from, whether blocks get ids."""

    resolve_link: LinkResolver | None = None
    math: Callable[[mathlock.Formula], str] = mathlock.lookup
    block_ids: bool = False
    schemes: tuple[str, ...] = ()
    """Further link schemes that `resolve_link` understands, for example `fact:`."""


PLAIN = Rendering()


def render(text: str, how: Rendering = PLAIN) -> str:
    """A whole text to HTML. Raises MarkdownError."""
    return _run(text, how, inline=False)


def render_inline(text: str, how: Rendering = PLAIN) -> str:
    """One line without a surrounding paragraph (a title, an answer of a quiz). Raises MarkdownError."""
    return _run(text, how, inline=True)


def formulas(text: str) -> Iterator[mathlock.Formula]:
    """Every formula in a text, without rendering it."""
    for token in _walk(_parser(PLAIN, check=False).parse(text, {})):
        if token.type == "math_inline":
            yield token.content, False
        elif token.type == "math_block":
            yield token.content.strip(), True


def _run(text: str, how: Rendering, *, inline: bool) -> str:
    parser = _parser(how, check=True)
    try:
        html = parser.renderInline(text) if inline else parser.render(text)
    except mathlock.MathError as error:
        raise MarkdownError(str(error)) from None
    return str(html)


def _walk(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _walk(token.children or [])


def _parser(how: Rendering, *, check: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "highlight": _code, "typographer": True})
    parser.enable(["table", "smartquotes"])
    parser.validateLink = lambda url: _is_safe(url, how.schemes)  # type: ignore[method-assign]
    parser.use(dollarmath_plugin, allow_space=False, allow_digits=False, double_inline=False)
    parser.use(footnote_plugin).use(deflist_plugin).use(anchors_plugin, min_level=2, max_level=4)
    parser.use(container_plugin, _CONTAINER, validate=lambda params, _markup: True)
    parser.core.ruler.push("pb_columns", _columns)
    parser.core.ruler.push("pb_links", lambda state: _links(state, how.resolve_link))
    if check:
        parser.core.ruler.push("pb_containers", _containers)
    if how.block_ids:
        parser.core.ruler.push("pb_ids", _ids)
    parser.add_render_rule("math_inline", _math(how.math, display=False))
    parser.add_render_rule("math_block", _math(how.math, display=True))
    parser.add_render_rule("container_pb_open", _open)
    parser.add_render_rule("container_pb_close", _close)
    parser.add_render_rule("table_open", _table_open)
    parser.add_render_rule("table_close", _table_close)
    return parser


def _is_safe(url: str, schemes: tuple[str, ...]) -> bool:
    url = url.strip()
    if any(url.startswith(scheme) for scheme in schemes):
        return True
    if _SCHEME.match(url) and not re.match(r"(https?://|mailto:)", url, re.IGNORECASE):
        return False
    return bool(_SAFE_LINK.match(url))


def _code(code: str, language: str, _attributes: str) -> str:
    try:
        lexer = get_lexer_by_name(language) if language else None
    except ClassNotFound:
        lexer = None
    body = escape(code) if lexer is None else highlight(code, lexer, HtmlFormatter(nowrap=True))
    # Long lines scroll inside the block, so a keyboard must be able to reach it.
    return f'<pre class="code" tabindex="0"><code class="language-{escape(language or "text")}">{body}</code></pre>'


def _links(state: StateCore, resolve: LinkResolver | None) -> None:
    for token in _walk(state.tokens):
        if token.type != "link_open":
            continue
        href = str(token.attrs.get("href", ""))
        resolved = resolve(href) if resolve else None
        if resolved is not None:
            token.attrs = dict(resolved)
        elif re.match(r"https?://", href, re.IGNORECASE):
            token.attrs["rel"] = "noopener"


def _columns(state: StateCore) -> None:
    """A column's alignment as a class: the parser's own `style=` is refused by the security policy."""
    for token in state.tokens:
        if token.type in ("th_open", "td_open") and "style" in token.attrs:
            token.attrs["class"] = str(token.attrs.pop("style")).replace("text-align:", "align-")


def _containers(state: StateCore) -> None:
    for token in state.tokens:
        if token.type != "container_pb_open":
            continue
        line = (token.map[0] + 1) if token.map else 0
        try:
            element, values = elements.parse(token.info.strip())
        except elements.ElementError as error:
            raise MarkdownError(f"line {line}: {error}") from None
        token.meta = {"element": element, "values": values}
    opened: list[Token] = []
    for token in state.tokens:
        if token.type == "container_pb_open":
            opened.append(token)
        elif token.type == "container_pb_close":
            token.meta = opened.pop().meta


def _ids(state: StateCore) -> None:
    """Give each top-level block an id made from its own text: it survives edits elsewhere in the page."""
    seen: dict[str, int] = {}
    for at, token in enumerate(state.tokens):
        if token.level or token.type not in _WITH_IDS or token.attrs.get("id"):
            continue
        text = next((later.content for later in state.tokens[at:] if later.type == "inline"), "")
        stem = "p-" + hashlib.sha256(text.encode()).hexdigest()[:8]
        seen[stem] = seen.get(stem, 0) + 1
        token.attrs["id"] = stem if seen[stem] == 1 else f"{stem}-{seen[stem]}"


_Rule = Callable[[RendererHTML, Sequence[Token], int, Any, MutableMapping[str, Any]], str]


def _math(mathml: Callable[[mathlock.Formula], str], *, display: bool) -> _Rule:
    def rule(_self: RendererHTML, tokens: Sequence[Token], index: int, _o: Any, _e: MutableMapping[str, Any]) -> str:
        tex = tokens[index].content.strip() if display else tokens[index].content
        html = mathml((tex, display))
        # A wide formula scrolls in its own box, and the keyboard must reach that box too.
        return f'<div class="math" role="group" aria-label="Formula" tabindex="0">{html}</div>\n' if display else html

    return rule


def _open(_self: RendererHTML, tokens: Sequence[Token], index: int, _o: Any, _e: MutableMapping[str, Any]) -> str:
    element: elements.Element = tokens[index].meta["element"]
    values: dict[str, elements.Value] = tokens[index].meta["values"]
    name = f' id="{escape(str(values["id"]))}"' if values["id"] else ""
    css = f' class="{escape(element.css)}"' if element.css else ""
    if element.frame is None:
        return f"<{element.tag}{name}{css}>\n"
    attributes = "".join(
        f' {key}="{escape(str(value))}"' for key, value in values.items() if key != "id" and key in element.attributes
    )
    figure = f' figure="{escape(str(values["id"]))}"' if values["id"] else ""
    inner = f"<{element.tag}{figure}{attributes}>{element.frame(values)}</{element.tag}>"
    return f"<figure{name}{css}>\n{inner}\n<figcaption>\n"


def _close(_self: RendererHTML, tokens: Sequence[Token], index: int, _o: Any, _e: MutableMapping[str, Any]) -> str:
    element: elements.Element = tokens[index].meta["element"]
    return f"</{element.tag}>\n" if element.frame is None else "</figcaption>\n</figure>\n"


def _table_open(_self: RendererHTML, _t: Sequence[Token], _i: int, _o: Any, _e: MutableMapping[str, Any]) -> str:
    return '<div class="table-scroll" role="region" aria-label="Table" tabindex="0"><table class="table">\n'


def _table_close(_self: RendererHTML, _t: Sequence[Token], _i: int, _o: Any, _e: MutableMapping[str, Any]) -> str:
    return "</table></div>\n"
