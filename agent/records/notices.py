"""Define notices: a session waits or has ended."""

from enum import StrEnum

from agent.records.record import Record
from agent.records.speaker import Speaker


class NoticeKind(StrEnum):
    """Why there is a notice."""

    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    REMINDER = "reminder"
    """A watcher has found what it looked for, or a commitment is due; of no session."""


class Notice(Record, frozen=True, kw_only=True):
    """One notice of a session; the newest token of a session is the one that counts.

    A reminder is of no session, and nothing comes back from it.
    """

    token: str
    session_id: str  # The session; `job:` and the number for a job's own, empty for a reminder.
    job_id: int = 0  # The job whose run it tells of; 0 for all others.
    kind: NoticeKind
    title: str
    text: str = ""  # What it says; the words of a model or a phone begin with who that is.
    speaker: Speaker = Speaker.PRODUCT
    serial: str = ""  # The phone that the session was on.
    question_id: str = ""
    options: tuple[str, ...] = ()
    may_reply: bool = False  # Whether a text sent back with the token answers it.
    posted_ms: int = 0
