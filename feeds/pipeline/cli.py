"""The command line of the pipeline. It gets the function that fetches from outside: this core has no network."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from feeds.pipeline.model import Feed, NotAFeed
from feeds.pipeline.prepass import MAX_BYTES
from feeds.pipeline.read import parse

Fetch = Callable[[str], tuple[bytes, str, str]]
"""URL -> (body, content type, final URL); raises OSError with a sentence for a person when it cannot."""


def main(argv: Sequence[str] | None = None, *, fetch: Fetch) -> int:
    """Read one document and print it; 0 = a feed, 2 = no feed (or not readable), with one line that says why."""
    options = _parser().parse_args(argv)
    try:
        data, content_type, url = _load(options.document, fetch)
        feed = parse(data, url=options.url or url, content_type=options.content_type or content_type)
    except (NotAFeed, OSError) as error:
        sys.stderr.write(f"{options.document}: {error}\n")
        if options.json:
            nothing: dict[str, object] = {
                "ok": False,
                "format": None,
                "title": None,
                "entries": [],
                "warnings": [],
                "error": str(error),
            }
            sys.stdout.write(json.dumps(nothing) + "\n")
        return 2
    answer = json.dumps(feed.as_json(), ensure_ascii=False, indent=2) if options.json else _table(feed)
    sys.stdout.write(answer + "\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m feeds.pipeline", description="Read an RSS, Atom, RDF or JSON Feed document, without a database."
    )
    parser.add_argument("document", metavar="FILE_OR_URL", help="a file, - for standard input, or an http(s) address")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--url", default="", help="where the document came from: relative links resolve against it")
    parser.add_argument("--content-type", default="", help="the Content-Type that it came with, for its charset")
    return parser


def _load(document: str, fetch: Fetch) -> tuple[bytes, str, str]:
    if document.startswith(("http://", "https://")):
        return fetch(document)
    if document == "-":
        return sys.stdin.buffer.read(MAX_BYTES + 1), "", ""
    path = Path(document)
    if path.is_dir():
        raise NotAFeed("This is a folder; name a file or an http(s) address.")
    if not path.exists():
        raise NotAFeed("There is no such file; name a file or an http(s) address.")
    with path.open("rb") as handle:
        return handle.read(MAX_BYTES + 1), "", ""


def _table(feed: Feed) -> str:
    lines = [f"{feed.title or 'Untitled feed'} ({feed.format}, {len(feed.entries)} entries)"]
    for entry in feed.entries:
        day = f"{entry.published:%Y-%m-%d}" if entry.published else "no date   "
        lines.append(f"  {day}  {entry.title or entry.summary or '-'}")
    lines += [f"warning: {warning}" for warning in feed.warnings]
    return "\n".join(lines)
