"""Texts and queries of the full-text index as SQLite takes them. Pure.

Not the index (`agent.store.embedded.search_index`) and not what an operator may type
(`agent.store.queries.search_words`). Invariants: no query is a syntax error of SQLite's; scripts
without spaces are found by any part.
"""

from __future__ import annotations

from agent.store.queries.search_words import (
    MARK_END,
    MARK_START,
    SEPARATOR,
    UNSPACED,
    terms_of,
)


def parted(text: str) -> str:
    """Part the letters of scripts without spaces, so that each is a word to SQLite."""
    return UNSPACED.sub(rf"\1{SEPARATOR}", text.replace(MARK_START, "").replace(MARK_END, ""))


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
