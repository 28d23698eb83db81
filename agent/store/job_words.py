"""How the words of a query are found among all jobs: by the index of their text, or by a walk.

Not a connection. The index holds every run of three characters of a job's title and prompt,
case-folded (FTS5's trigram tokenizer), and is kept by triggers that a change of anything else
leaves alone. Invariant: both ways find the same jobs.
"""

from __future__ import annotations

from collections.abc import Iterable

from agent.records import JobStatus

SHORTEST = 3
"""Characters: the index knows nothing shorter."""
FEW = 2000
"""Up to so many, jobs are looked up one by one and sorted; more of them a walk soon meets."""

HOW_MANY = "SELECT count(*) FROM (SELECT 1 FROM job_words WHERE job_words MATCH ? LIMIT ?)"


def phrase(query: str, statuses: Iterable[JobStatus]) -> str:
    """Give the index's expression for a part of a title or prompt.

    Args:
        query: the part, case-folded.
        statuses: those that the jobs in question may have.

    Returns:
        Empty when only a walk finds them all: the query is too short, or is a part of a status, or
        of more than one line.
    """
    if len(query) < SHORTEST or "\n" in query or "\0" in query:
        return ""
    if any(query in status.value for status in statuses):
        return ""
    doubled = query.replace('"', '""')
    return f'"{doubled}"'
