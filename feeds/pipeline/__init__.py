"""From the bytes of a feed document to clean, identified entries.

A pure core: no Django, no Celery, no network, nothing of ``pixelbank``. The way of a document is
``prepass`` (encoding, repairs) -> ``xmlfeed`` or ``jsonfeed`` (find) -> ``read`` (dates, clean text and HTML)
-> ``identity``. ``python -m feeds.pipeline FILE_OR_URL --json`` shows the result for one document.
"""

from feeds.pipeline.model import Entry, Feed, NotAFeed
from feeds.pipeline.read import parse

__all__ = ["Entry", "Feed", "NotAFeed", "parse"]
