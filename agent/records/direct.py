"""Define the view that a program gets after each call of its direct session."""

from enum import StrEnum

from agent.records.record import Record

DIRECT = "direct:"
"""How the model of a direct session begins: the name of the program that makes its calls follows.
No endpoint has such a model."""


class DirectStatus(StrEnum):
    """Whether a direct session takes the next call."""

    READY = "ready"
    WAITING = "waiting"
    """Not yet: its phone is taken, the operator is asked or has paused it, or a call takes long."""
    OVER = "over"
    """It has ended or was stopped; only the operator resumes it."""


class DirectView(Record, frozen=True, kw_only=True):
    """What a direct session shows: what came of the last call, and the screen."""

    status: DirectStatus
    text: str = ""
    """What a model would have read since its last call; or why there is nothing to read yet."""
    picture: str = ""
    """The blob of the screen with its elements' numbers drawn, where one was asked for."""
    picture_type: str = ""
