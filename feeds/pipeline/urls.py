"""Addresses: which may be shown as a link, and when two of them mean the same page."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, parse_qsl, urlencode, urljoin, urlsplit, urlunsplit

_TRACKING = re.compile(r"utm_\w+|fbclid|gclid|dclid|msclkid|mc_[ce]id|maca|wt_mc|ref|igshid|yclid|_hs(?:enc|mi)", re.I)
_SCHEME = re.compile(r"[a-z][a-z0-9+.\-]*:", re.I)
_EDGES = "".join(map(chr, range(0x21)))
_LONGEST = 2000
"""Longer addresses are not links but data; the database column has the same length."""


def _split(url: str) -> SplitResult | None:
    """urlsplit, or None where it refuses (an unclosed ``[``, a port that is no number)."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts


def is_web(url: str | None) -> bool:
    """True for an absolute http or https address with a host."""
    parts = _split(url) if url else None
    return parts is not None and parts.scheme in ("http", "https") and bool(parts.hostname)


def safe_link(raw: str | None, base: str = "") -> str | None:
    """``raw`` as an address that may become a link, resolved against ``base``; None when it may not.

    Only http and https survive (a ``javascript:`` or ``data:`` link is dropped), and without the name and
    password in front of an ``@``, which are nobody's business or a disguise for the host. Without a base a relative
    address is returned as it stands, so that the command line shows what the document says; callers that
    need an absolute one ask :func:`is_web`.
    """
    if not raw:
        return None
    link = re.sub(r"[\t\r\n]", "", raw).strip(_EDGES)  # what browsers drop first
    if not link or len(link) > _LONGEST or any(ord(c) < 0x20 for c in link):
        return None
    if base and not _SCHEME.match(link):
        try:
            link = urljoin(base, link)
        except ValueError:
            return None
    elif link.startswith("//"):
        link = "https:" + link
    link = link.replace(" ", "%20")
    if is_web(link):
        link = _without_userinfo(link)
        return link if len(link) <= _LONGEST else None
    return None if _SCHEME.match(link) or _split(link) is None or base else link


def _without_userinfo(link: str) -> str:
    parts = urlsplit(link)
    place = parts.netloc.rpartition("@")[2]
    return link if place == parts.netloc else urlunsplit(parts._replace(netloc=place))


def canonical_url(link: str | None) -> str | None:
    """One spelling for all addresses of a page, or None when ``link`` is not absolute.

    http and https count as the same, ``www.``, default port, fragment, tracking parameters, doubled and
    trailing slashes, name and password are dropped, and parameters are sorted. Made to compare, not to be opened.
    """
    if not is_web(link):
        return None
    parts = urlsplit(link or "")
    host = (parts.hostname or "").rstrip(".").removeprefix("www.")
    port = parts.port
    if port and port not in (80, 443):
        host = f"{host}:{port}"
    path = re.sub(r"/{2,}", "/", parts.path).rstrip("/")
    kept = [(k, v) for k, v in parse_qsl(parts.query, keep_blank_values=True) if not _TRACKING.fullmatch(k)]
    fragment = parts.fragment if parts.fragment.startswith("!") else ""  # "#!" names a page, "#top" a place
    return urlunsplit(("https", host, path, urlencode(sorted(kept)), fragment))
