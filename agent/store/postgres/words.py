"""Translate texts and queries for PostgreSQL's full-text search. Pure.

We split text into words ourselves, independent of the server's configuration, so every server, and
SQLite, finds the same: in any case, with or without accents, scripts without spaces by any part.
Invariant: no text and no query is a syntax error.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from agent.store.queries.search_words import (
    LETTER_ALONE,
    MARK_END,
    MARK_START,
    SNIPPET_MARKS,
    Snippet,
    Term,
    snippet_of,
    terms_of,
)

_TOKEN = re.compile(rf"{LETTER_ALONE.pattern}|(?:(?!{LETTER_ALONE.pattern})[^\W_])+")
_LONGEST_CHARS = 200  # Of a word; PostgreSQL takes 2,046 bytes.
_LAST_PLACE = 16_383
_SNIPPET_WORDS = 16


class Token(NamedTuple):
    """A word and its position in a text."""

    word: str
    start: int
    end: int


def tokens_of(text: str) -> Iterator[Token]:
    """Split a text in Unicode's form NFC into words."""
    for match in _TOKEN.finditer(text):
        word = match.group()
        if not word.isascii() and match.group(1) is None:
            apart = unicodedata.normalize("NFD", word.casefold())
            word = "".join(c for c in apart if not unicodedata.combining(c)) or word
        yield Token(word.casefold()[:_LONGEST_CHARS], match.start(), match.end())


def vector_of(text: str) -> str:
    """Return a text as a `tsvector`: its words with their positions."""
    tokens = tokens_of(unicodedata.normalize("NFC", text))
    return " ".join(
        f"{_quoted(token.word)}:{min(place, _LAST_PLACE)}" for place, token in enumerate(tokens, 1)
    )


def query_of(query: str) -> str:
    """Translate an operator's query into a `tsquery`. Raises UsageError."""
    parts: list[str] = []
    for term in terms_of(query):
        words = [_quoted(word) for word in _words_of(term)]
        words[-1] += ":*" if term.is_beginning else ""
        parts.append(("!" if term.is_unwanted else "") + f"({' <-> '.join(words)})")
    return " & ".join(parts)


def snippet(text: str, query: str) -> Snippet:
    """Return the part of a text that matches a query, with the position of each match."""
    text = unicodedata.normalize("NFC", text).replace(MARK_START, " ").replace(MARK_END, " ")
    tokens = list(tokens_of(text))
    spans = _spans(tokens, [term for term in terms_of(query) if not term.is_unwanted])
    first = max(0, min((start for start, _ in spans), default=0) - _SNIPPET_WORDS // 4)
    last = min(first + _SNIPPET_WORDS, len(tokens))
    begin = tokens[first].start if first else 0
    end = tokens[last - 1].end if last < len(tokens) else len(text)
    cuts: list[str] = []
    at = begin
    for start, stop in spans:
        if start >= first and stop <= last and tokens[start].start >= at:
            cuts += [text[at : tokens[start].start], MARK_START]
            at = tokens[stop - 1].end
            cuts += [text[tokens[start].start : at], MARK_END]
    cuts.append(text[at:end])
    more = SNIPPET_MARKS[2]
    return snippet_of(
        (more if first else "") + "".join(cuts).strip() + (more if last < len(tokens) else "")
    )


def _spans(tokens: list[Token], terms: list[Term]) -> list[tuple[int, int]]:
    """Find where terms stand, as places of their first word and after their last, in order."""
    found: set[tuple[int, int]] = set()
    for term in terms:
        words = _words_of(term)
        for start in range(len(tokens) - len(words) + 1):
            here = [token.word for token in tokens[start : start + len(words)]]
            if here[:-1] == words[:-1] and (
                here[-1].startswith(words[-1]) if term.is_beginning else here[-1] == words[-1]
            ):
                found.add((start, start + len(words)))
    spans = sorted(found)
    overlapping = {after for before, after in pairwise(spans) if after[0] < before[1]}
    return [span for span in spans if span not in overlapping]


def _words_of(term: Term) -> list[str]:
    words = [token.word for token in tokens_of(unicodedata.normalize("NFC", term.text))]
    # It has a letter or digit, so there is a word, but for those that only Unicode calls a letter.
    return words or [term.text.casefold()[:_LONGEST_CHARS]]


def _quoted(word: str) -> str:
    doubled = word.replace("\\", "\\\\").replace("'", "''").replace("\0", "")
    return f"'{doubled}'"
