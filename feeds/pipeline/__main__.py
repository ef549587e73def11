"""``python -m feeds.pipeline``: puts the pure core and the site's guarded HTTP client together.

The only module of this package that may import from pixelbank, and only that one function: every outgoing
request goes through ``pixelbank.core.fetch``, and the core itself stays without network. The import contract
names this single exception. Imported late, so that a file is read without it.
"""

from __future__ import annotations

import sys

from feeds.pipeline.cli import main


def _fetch(url: str) -> tuple[bytes, str, str]:
    from pixelbank.core.fetch import get

    reply = get(url)
    if reply.status != 200:
        raise OSError(f"The server answered with status {reply.status} instead of a document.")
    return reply.body, reply.headers.get("content-type", ""), reply.url


if __name__ == "__main__":
    sys.exit(main(fetch=_fetch))
