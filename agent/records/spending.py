"""What was spent: by the day, and by the sessions that cost most."""

from __future__ import annotations

from agent.records.observation import Usage
from agent.records.record import Record
from agent.records.sessions import Session


class DaySpent(Record, frozen=True, kw_only=True):
    """One day of the core's own time zone: the sessions that began on it, and what they used."""

    day: str
    """As 2026-11-21."""
    sessions: int = 0
    completed: int = 0
    failed: int = 0
    steps: int = 0
    usage: Usage = Usage()


class SessionSpent(Record, frozen=True, kw_only=True):
    """What one session used itself: of a fork only what came after the past it was given."""

    session: Session
    usage: Usage


class Spending(Record, frozen=True, kw_only=True):
    """What the stored sessions used since a moment."""

    days: tuple[DaySpent, ...] = ()
    """Those on which sessions began, the oldest first."""
    dearest: tuple[SessionSpent, ...] = ()
    """The ones that cost most, by money, then by tokens."""
