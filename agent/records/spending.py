"""Define spending: per day for sessions and watchers, and per session for the most expensive."""

from agent.records.observation import Usage
from agent.records.record import Record
from agent.records.sessions import Session


class DaySpent(Record, frozen=True, kw_only=True):
    """One day of the core's own time zone: the sessions that began on it, and what was used.

    A session counts on the day that it began; what judging for watchers took, on the day it did.
    """

    day: str  # As 2026-11-21.
    sessions: int = 0
    completed: int = 0
    failed: int = 0
    steps: int = 0
    usage: Usage = Usage()  # What the sessions used, and the watchers.
    watchers: Usage = Usage()  # Of it, what models judged for watchers.


class SessionSpent(Record, frozen=True, kw_only=True):
    """What one session used itself: of a fork only what came after the past it was given."""

    session: Session
    usage: Usage


class Spending(Record, frozen=True, kw_only=True):
    """What the stored sessions and watchers used since a moment."""

    days: tuple[DaySpent, ...] = ()
    """Those on which sessions began or watchers used a model, the oldest first."""
    dearest: tuple[SessionSpent, ...] = ()
    """The ones that cost most, by money, then by tokens."""
