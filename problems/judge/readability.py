"""How hard a short English text is to read: words, and the US school grade by Flesch and Kincaid.

Grade = 0.39 * words per sentence + 11.8 * syllables per word - 15.59 (Kincaid et al. 1975). Code, formulas and
numbers are not prose: they count as one short word each. Syllables are counted by groups of vowels, which is right to
a few percent.
"""

from __future__ import annotations

import re

_MATH = re.compile(r"\$[^$]*\$|`[^`]*`")
_CODE = re.compile(r"\S*[\w)\]]\s*[-+*/=]+\s*[\w(\[]\S*|\S*[()\[\]_=^]\S*|\b\w+\.\w+\S*")
_WORD = re.compile(r"[A-Za-z]+(?:['’-][A-Za-z]+)*|\d[\d.,e-]*")
_SENTENCE = re.compile(r"[.!?:;]+(?=\s|$)")


def prose(text: str) -> str:
    """The text with code and formulas replaced by a short word."""

    def short(found: re.Match[str]) -> str:
        code = found.group()
        return "it" + code[len(code.rstrip(".,;:!?")) :]

    return _CODE.sub(short, _MATH.sub("it", text))


def words(text: str) -> int:
    """How many words a text has; code counts too."""
    return len(text.split())


def syllables(word: str) -> int:
    """Syllables of an English word; 1 for a number."""
    word = word.lower()
    groups = len(re.findall(r"[aeiouy]+", word))
    if word.endswith("e") and not word.endswith(("le", "ee")) and groups > 1:
        groups -= 1
    if word.endswith("ed") and len(word) > 3 and word[-3] not in "aeioudt" and groups > 1:
        groups -= 1
    return max(groups, 1)


def grade(text: str) -> float:
    """The US school grade that a text asks for; 0 for an empty text."""
    plain = prose(text)
    found = _WORD.findall(plain)
    if not found:
        return 0.0
    sentences = max(1, len(_SENTENCE.findall(plain.strip())))
    return 0.39 * len(found) / sentences + 11.8 * sum(map(syllables, found)) / len(found) - 15.59
