"""How urgent a notice is, and when a person is left alone. Pure but for the time zone.

Invariant: what asks for an answer is never gathered into a digest.
"""

from collections.abc import Collection
from enum import StrEnum

from agent.records import Notice, NoticeKind, Question, QuietHours, Schedule
from agent.schedules import out_of_quiet_ms
from agent.settings import NoticeLevel


class Urgency(StrEnum):
    """When a notice is sent."""

    URGENT = "urgent"
    """At once, also in quiet hours."""
    NORMAL = "normal"
    """At once; in quiet hours, after them."""
    LOW = "low"
    """With the next digest."""


def urgency_of(
    notice: Notice, question: Question | None, urgent: Collection[NoticeLevel]
) -> Urgency:
    """Return how urgent a notice is.

    Args:
        question: what it asks; None: nothing that is open.
        urgent: what may be sent in quiet hours.
    """
    level = _level_of(notice, question)
    if level is None:
        return Urgency.LOW
    return Urgency.URGENT if level in urgent else Urgency.NORMAL


def quiet_until_ms(quiet: str, now_ms: int) -> int:
    """Return when quiet hours end that hold now; 0: none hold.

    Args:
        quiet: as `22:00-07:00`, in the computer's time zone; empty: none.
        now_ms: milliseconds since the epoch.
    """
    since, _, until = quiet.partition("-")
    if not until or since == until:
        return 0
    end_ms = out_of_quiet_ms(Schedule(quiet=QuietHours(since=since, until=until)), now_ms)
    return end_ms if end_ms > now_ms else 0


def _level_of(notice: Notice, question: Question | None) -> NoticeLevel | None:
    match notice.kind:
        case NoticeKind.WAITING if question is not None and question.is_approval:
            return NoticeLevel.APPROVAL
        case NoticeKind.WAITING:
            return NoticeLevel.QUESTION
        case NoticeKind.FAILED:
            return NoticeLevel.FAILED
        case _:
            return None
