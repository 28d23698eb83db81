"""Queries and snippets of the full-text index in SQLite's words. Pure.

Not the index (`agent.store.embedded.search_index`) and not what an operator may type
(`agent.store.queries.search_words`). Invariants: no query is a syntax error of SQLite's; scripts
without spaces are found by any part.
"""

from __future__ import annotations

import re

from agent.store.queries.search_words import Snippet, terms_of

_SEPARATOR = "\u200b"
"""Parts the letters of a script without spaces; `agent.text.clean` lets none into stored text."""
# Thai to Khmer, kana, Han, Hangul syllables apart (they are written with spaces), Han extensions.
_UNSPACED = re.compile(
    r"([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uf900-\ufaff\U00020000-\U0003ffff])"
)
_START, _END = "\ue000", "\ue001"
SNIPPET_MARKS = (_START, _END, "…")
"""What stands around a match and at the ends of a snippet, for SQLite's `snippet`."""


def parted(text: str) -> str:
    """Part the letters of scripts without spaces, so that each is a word to SQLite."""
    return _UNSPACED.sub(rf"\1{_SEPARATOR}", text.replace(_START, "").replace(_END, ""))


def compiled(query: str) -> str:
    """Turn what an operator typed into an FTS5 expression; see `terms_of`.

    Raises:
        UsageError: nothing to look for, or too much.
    """
    wanted: list[str] = []
    unwanted: list[str] = []
    for term in terms_of(query):
        quoted = '"' + parted(term.text).replace("\x00", "") + '"'
        quoted += " *" if term.is_beginning else ""
        (unwanted if term.is_unwanted else wanted).append(quoted)
    expression = " AND ".join(wanted)
    for quoted in unwanted:
        expression = f"({expression}) NOT {quoted}"
    return expression


def snippet_of(marked: str) -> Snippet:
    """Read what SQLite's `snippet` gave: take the marks out and remember where they were."""
    line = re.sub(r"\s+", " ", marked.replace(_SEPARATOR, ""))
    letters: list[str] = []
    matches: list[tuple[int, int]] = []
    begun = -1
    for letter in line:
        if letter == _START:
            begun = len(letters)
        elif letter == _END:
            if begun >= 0:
                matches.append((begun, len(letters)))
            begun = -1
        else:
            letters.append(letter)
    return Snippet("".join(letters), tuple(matches))
