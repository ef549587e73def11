"""When are two entries the same one? An ordered list of keys answers, strongest first.

``guid:…``  the publisher's id, if it is not empty and not shared by entries of the same document
``url:…``   the canonical address, under the same condition (all entries of a changelog may link to one page)
``hash:…``  of title and date, or of title and body where there is no date

A stored entry that already carries one of the keys is the same entry. Dates take no part unless nothing
else is left: publishers move them with every fetch.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from feeds.pipeline.model import Entry, iso_utc


def with_identity(entries: Sequence[Entry]) -> tuple[tuple[Entry, ...], list[str]]:
    """The entries with ``id`` and ``keys`` filled in, without true doubles; and warnings in plain words."""
    guids = Counter(entry.guid for entry in entries if entry.guid)
    addresses = Counter(entry.canonical_url for entry in entries if entry.canonical_url)
    warnings: list[str] = []
    shared = sum(count for count in guids.values() if count > 1)
    if shared:
        warnings.append(f"{shared} entries share a guid with another one; their address identifies them instead.")
    seen: set[str] = set()
    kept: list[Entry] = []
    for entry in entries:
        keys: list[str] = []
        if entry.guid and guids[entry.guid] == 1:
            keys.append(f"guid:{entry.guid}")
        if entry.canonical_url and addresses[entry.canonical_url] == 1:
            keys.append(f"url:{entry.canonical_url}")
        if not keys:
            keys.append(f"hash:{_fingerprint(entry)}")
        if keys[0] in seen:
            continue
        seen.add(keys[0])
        kept.append(replace(entry, keys=tuple(keys), id=_shown(keys[0])))
    if len(kept) < len(entries):
        warnings.append(f"{len(entries) - len(kept)} entries repeat another one word for word and were left out.")
    return tuple(kept), warnings


def _fingerprint(entry: Entry) -> str:
    rest = iso_utc(entry.published) or entry.summary or entry.content_html or ""
    parts = "\x1f".join((entry.canonical_url or "", entry.title or "", rest))
    return hashlib.sha256(parts.encode("utf-8", "replace")).hexdigest()


def _shown(key: str) -> str:
    kind, _, value = key.partition(":")
    return f"sha256:{value}" if kind == "hash" else value
