"""Split texts into words. One rule for every reader of words. Pure.

A token is a run of letters, marks and digits. Invariants: no letter and no digit is outside of a
token; tokens are in order and do not overlap; joining texts by a blank joins their tokens.

Source: UAX 29, with three differences. Scripts that are written without blanks (Chinese, Japanese,
Thai, Lao, Khmer, Burmese) give a token for each letter, since only a dictionary of each language
could do better; words of them are found as tokens in a row. An apostrophe parts words, so that
"l'eau" is found by "eau". A colon joins digits as a point does: 12:30 is one token.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from agent.language.fold import folded

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
"""Letters of scripts without blanks, as the inside of a character class: Thai to Khmer, kana, Han.
Hangul is written with blanks."""
_IN_NUMBERS = ".,:'\u2019\u066b\u066c"
"""Join digits of one number, version or time."""
_ASCII = re.compile(r"[A-Za-z0-9]+(?:(?<=[0-9])[.,:'](?=[0-9])[A-Za-z0-9]+)*")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_MARKS_END = 0x1F000


class Token(NamedTuple):
    """A word, as it stands in a text."""

    text: str
    start: int
    end: int


@lru_cache(maxsize=4096)
def tokens(text: str) -> tuple[Token, ...]:
    """Return the tokens of a text, unfolded, with their places."""
    pattern = _ASCII if text.isascii() else _pattern()
    return tuple(Token(m.group(), *m.span()) for m in pattern.finditer(text))


@lru_cache(maxsize=8192)
def words(text: str) -> tuple[str, ...]:
    """Return the words of a text, folded by `folded`."""
    return split_words(folded(text))


def split_words(text: str) -> tuple[str, ...]:
    """Return the words of a text as they are: for one that is folded already."""
    pattern = _ASCII if text.isascii() else _pattern()
    return tuple(pattern.findall(text))


def pieces(text: str) -> tuple[Token, ...]:
    """Return tokens with their letters and digits apart, but numbers with separators whole.

    "3rd" gives 3 and rd, "12月" 12 and 月, "12:30" one piece.
    """
    found: list[Token] = []
    for token in tokens(text):
        if token.text.isalpha() or token.text.isdecimal():
            found.append(token)
            continue
        for part in _JOINED.finditer(token.text):
            start = token.start + part.start()
            found.append(Token(part.group(), start, start + len(part.group())))
    return tuple(found)


def is_unspaced(text: str) -> bool:
    """Return whether a text begins with a letter of a script that is written without blanks."""
    return bool(_UNSPACED.match(text))


def has_phrase(haystack: Sequence[str], phrase: Sequence[str]) -> bool:
    """Return whether the words of a phrase stand side by side, in order."""
    span = len(phrase)
    if span == 1:
        return phrase[0] in haystack
    return any(haystack[at : at + span] == phrase for at in range(len(haystack) - span + 1))


_JOINED = re.compile(rf"\d+(?:[{_IN_NUMBERS}]\d+)*|[^\d{_IN_NUMBERS}]+")


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    """Compile the rule for texts that are not ASCII; looking for all marks takes 20 ms."""
    marks = f"[{_marks()}\u200c\u200d]*"
    letter = rf"(?![{UNSPACED}])[^\W_]{marks}"
    digit = r"(?<=\d)"
    run = rf"(?:{letter}|\d)+"
    joined = rf"{run}(?:{digit}[{_IN_NUMBERS}](?=\d){run})*"
    return re.compile(rf"{joined}|(?=[^\W\d_])[{UNSPACED}]{marks}")


def _marks() -> str:
    """Return the marks of all scripts as the inside of a character class."""
    ranges: list[list[int]] = []
    for code in range(0x300, _MARKS_END):
        if unicodedata.category(chr(code))[0] == "M":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
