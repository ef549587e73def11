"""How a cleaned text of a publisher is put into our page."""

from __future__ import annotations

import re

from django import template
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

_HEADING = re.compile(r"(</?h)([1-6])\b")


@register.filter
def fulltext(content_html: str) -> SafeString:
    """The stored, cleaned HTML for a place below an ``h2``: headings start at ``h3``, and what scrolls can be focused.

    Marked safe: the pipeline's allow-list (feeds.pipeline.clean) has passed over it before it was stored.
    """
    levels = [int(level) for _, level in _HEADING.findall(content_html)]
    shift = 3 - min(levels, default=3)
    shifted = _HEADING.sub(lambda found: f"{found[1]}{min(6, int(found[2]) + shift)}", content_html)
    focusable = shifted.replace("<pre", '<pre tabindex="0"')
    framed = focusable.replace("<table>", '<div class="table" role="region" aria-label="Table" tabindex="0"><table>')
    return mark_safe(framed.replace("</table>", "</table></div>"))  # noqa: S308 - see above
