"""Define the statements that differ between the databases of a store; all others are shared."""

from collections.abc import Callable
from typing import NamedTuple

from agent.store.queries.job_words import Lookup


class Dialect(NamedTuple):
    """The statements of one kind of database that no other understands."""

    jobs_on: str
    """The records of active jobs whose schedule has an event, by id; one parameter."""
    spending: str
    """What the sessions since a moment used, by the day, and the dearest of them; see
    `agent.store.queries.spendings`.
    """
    watched: str
    """What watchers used since a moment, by the day."""
    lookup: Callable[[str], Lookup | None]
    """How jobs are found by a part of their title or prompt, case-folded; None when only a walk
    through all of them finds them.
    """
