"""What the frame of every page asks: the theme, and where in the site the page is."""

from __future__ import annotations

from django import template
from django.template.context import Context
from django.utils.html import format_html
from django.utils.safestring import SafeString

from pixelbank.web import theme

register = template.Library()


@register.simple_tag(takes_context=True)
def theme_choice(context: Context) -> str:
    """`light`, `dark` or `system`. Pages that use it vary by cookie, as the account link makes them anyway."""
    return theme.chosen(context.get("request"))


@register.simple_tag(takes_context=True)
def here(context: Context, address: str) -> SafeString:
    """`aria-current` for a link to `address`: `page` on that very page, `true` on the pages below it."""
    request = context.get("request")
    path = request.path if request is not None else ""
    if not path.startswith(address):
        return SafeString("")
    return format_html(' aria-current="{}"', "page" if path == address else "true")
