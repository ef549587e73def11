"""`{% vite "styles/main.css" "main.ts" fonts="source-serif-4-latin-wght-normal.woff2" %}` in the head of a page."""

from __future__ import annotations

import logging

from django import template
from django.template.context import Context
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from pixelbank.web.vite import NotBuilt, manifest, problem

log = logging.getLogger(__name__)
register = template.Library()


@register.simple_tag(takes_context=True)
def vite(context: Context, *entries: str, fonts: str = "") -> SafeString:
    """Links to the built files of `entries`; `fonts` (file names, parted by spaces) are preloaded.

    Without a build the page stays readable: nothing is linked, and `{% build_notice %}` says what to do.
    """
    try:
        needed = manifest().needed(*entries, fonts=tuple(fonts.split()))
    except NotBuilt as error:
        log.warning("%s", error)
        return SafeString("")
    nonce = str(getattr(context.get("request"), "csp_nonce", ""))
    lines = [
        ('<link rel="preload" as="font" type="font/woff2" href="{}" crossorigin>', needed.fonts),
        ('<link rel="stylesheet" href="{}">', needed.styles),
        ('<link rel="modulepreload" href="{}">', needed.preloads),
        ('<script type="module" src="{}" nonce="{}"></script>', needed.scripts),
    ]
    written = (format_html(line, static(file), nonce) for line, files in lines for file in files)
    return format_html_join("\n", "{}", ((line,) for line in written))


@register.simple_tag
def build_notice() -> SafeString:
    """One sentence at the top of a page when the front end is not built; nothing otherwise."""
    sentence = problem()
    return format_html("<p><strong>{}</strong></p>", sentence) if sentence else SafeString("")
