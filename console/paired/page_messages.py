"""What the page of a paired phone and its server say to each other, as JSON.

Invariant: what a browser sends is decoded strictly; bytes are base64.
"""

from typing import Annotated, TypeAlias

import msgspec

MOST_BYTES = 64 * 1024


class _FromPage(msgspec.Struct, frozen=True, tag_field="type", forbid_unknown_fields=True):
    """Base of what the page sends."""


class Pair(_FromPage, frozen=True, tag="pair"):
    """Pair this phone; see `agent.consent.phone_door.PhoneDoor.accept`."""

    code: Annotated[str, msgspec.Meta(max_length=200)]
    public: Annotated[bytes, msgspec.Meta(max_length=200)]
    signature: Annotated[bytes, msgspec.Meta(max_length=200)]


class Signed(_FromPage, frozen=True, tag="signed"):
    """A statement of a paired phone (`agent.consent.phone_statements`)."""

    phone_id: Annotated[str, msgspec.Meta(max_length=80)]
    statement: Annotated[str, msgspec.Meta(max_length=20_000)]
    signature: Annotated[bytes, msgspec.Meta(max_length=200)]


FromPage: TypeAlias = Pair | Signed


class Fact(msgspec.Struct, frozen=True, omit_defaults=True):
    """One line of a card."""

    name: str
    text: str
    note: str = ""
    is_unsure: bool = False


class Choice(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer that is offered."""

    label: str
    shown: str
    description: str = ""


class Card(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One question, and what an answer to it is bound to."""

    question_id: str
    session_id: str
    generation: int
    digest: str
    headline: str
    act: str = ""
    facts: tuple[Fact, ...] = ()
    note: str = ""
    phone: str = ""
    goal: str = ""
    is_approval: bool = False
    is_secret: bool = False
    has_picture: bool = False
    choices: tuple[Choice, ...] = ()
    asked_ms: int
    deadline_ms: int = 0


class SessionRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One session that works or waits."""

    session_id: str
    title: str
    state: str
    phone: str = ""


class Queue(msgspec.Struct, frozen=True, kw_only=True):
    """What waits, and what works."""

    cards: tuple[Card, ...]
    sessions: tuple[SessionRow, ...]


class ToPage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Every reply."""

    at_ms: int
    """The server's time: statements are made by it."""
    is_done: bool = False
    message: str = ""
    """Why it was not done, or not yet."""
    remedy: str = ""
    may_help_again: bool = False
    """Whether the same may be done when it is sent again; else it is refused for good."""
    is_unpaired: bool = False
    """Whether the phone has to be paired again."""
    phone_id: str = ""
    name: str = ""
    vapid: str = ""
    """The key that pushes are signed with, as browsers take it; empty: none are sent."""
    version: str = ""
    """Of the queue."""
    queue: Queue | None = None
    picture: bytes = b""
    """JPEG."""


from_page: msgspec.json.Decoder[FromPage] = msgspec.json.Decoder(FromPage)
to_page = msgspec.json.Encoder()
