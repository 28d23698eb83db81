"""Translate texts and queries for SQLite's full-text index. Pure.

The index is `agent.store.embedded.search_index`, the operator's syntax
`agent.store.queries.search_words`. Invariants: no query is a syntax error of SQLite's; scripts
without spaces are found by any part.
"""

from agent.store.queries.search_words import LETTER_ALONE, MARK_END, MARK_START, SEPARATOR, terms_of


def parted(text: str) -> str:
    """Separate the letters of scripts without spaces, so that each is a word to SQLite."""
    return LETTER_ALONE.sub(rf"\1{SEPARATOR}", text.replace(MARK_START, "").replace(MARK_END, ""))


def compiled(query: str) -> str:
    """Translate an operator's query into an FTS5 expression; see `terms_of`.

    Raises:
        UsageError: it has nothing to search for, or too much.
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
