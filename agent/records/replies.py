"""Define what replies carry beside stored records: a direct session's view, a look at a phone, the
hits of a search. Never stored.
"""

from enum import StrEnum

from agent.records.devices import Foreground
from agent.records.observation import Element
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
    failed: bool = False
    """Whether the last call failed, or there is no session any more that could carry it out."""


class PhoneLook(Record, frozen=True, kw_only=True):
    """The elements of a screen at one moment, numbered as a model would see them."""

    serial: str
    at_ms: int
    foreground: Foreground
    elements: tuple[Element, ...] = ()
    note: str = ""
    """Why there are no elements, or what they were read from where the tree says little."""


class PhoneFinding(Record, frozen=True, kw_only=True):
    """One thing that was examined on a phone."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""  # What to do about it; empty when it is fine.
    can_repair: bool = False  # Whether the core can put it right itself.


class SearchHit(Record, frozen=True, kw_only=True):
    """One event whose text has what was looked for."""

    session_id: str
    seq: int
    """The event's place in its session."""
    ts_ms: int
    kind: str
    """The event's type, such as agent_message."""
    snippet: str
    """The text around the first match, on one line."""
    matches: tuple[tuple[int, int], ...] = ()
    """Where in the snippet the words are: from and to, in characters."""
