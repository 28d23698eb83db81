"""Find jobs by the words of a query, with an index in the database itself.

The index has every run of three characters of a job's title and prompt, case-folded (FTS5's trigram
tokenizer), with two line ends after each, so that each character starts such a run. Triggers
maintain it; other changes of a job leave it alone.
"""

from agent.store.queries.job_words import Lookup

_WHOLE = 3  # Characters that the index holds at a time; what is shorter begins some of them.
_AFTER_ANY = "\U0010ffff"

_WITH = "SELECT rowid AS found FROM job_words WHERE job_words MATCH ?"
_BEGINNING = "SELECT DISTINCT doc AS found FROM job_terms WHERE term >= ? AND term < ?"
_HOW_MANY_WITH = "SELECT count(*) FROM (SELECT 1 FROM job_words WHERE job_words MATCH ? LIMIT ?)"
_HOW_MANY_BEGINNING = (
    "SELECT count(*) FROM (SELECT 1 FROM job_terms WHERE term >= ? AND term < ? LIMIT ?)"
)


def lookup(query: str) -> Lookup | None:
    """Return how to find jobs by a part of their title or prompt.

    Args:
        query: the part, case-folded.

    Returns:
        None if only a scan finds them: the query is empty, or has more than one line.
    """
    if not query or "\n" in query or "\0" in query:
        return None
    if len(query) < _WHOLE:
        return Lookup(_BEGINNING, _HOW_MANY_BEGINNING, (query, query + _AFTER_ANY))
    doubled = query.replace('"', '""')
    return Lookup(_WITH, _HOW_MANY_WITH, (f'"{doubled}"',))
