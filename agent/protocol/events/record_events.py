"""Define the events of session records: rollback, retention, tags, deletion."""

from typing import ClassVar, TypeAlias

from agent.protocol.base import EventBase


class SessionRolledBack(EventBase, frozen=True, kw_only=True, tag="session_rolled_back"):
    """The events from one on, up to this one, are hidden from the model and the transcript."""

    turns: int
    from_seq: int
    """The first hidden event; everything before this event that is not older is hidden."""


class SessionKept(EventBase, frozen=True, kw_only=True, tag="session_kept"):
    """The operator excluded the session's frames from retention, or returned them."""

    kept: bool


class SessionTagged(EventBase, frozen=True, kw_only=True, tag="session_tagged"):
    """The operator replaced the session's tags."""

    tags: tuple[str, ...] = ()


class SessionRenamed(EventBase, frozen=True, kw_only=True, tag="session_renamed"):
    """The operator gave the session another title."""

    title: str


class SessionEndpointChosen(EventBase, frozen=True, kw_only=True, tag="session_endpoint_chosen"):
    """The operator has the session's model asked at another address from here on."""

    endpoint: str


class SessionDismissed(EventBase, frozen=True, kw_only=True, tag="session_dismissed"):
    """The operator dismissed the ended session from every Deck, or undid that."""

    dismissed: bool


class SessionPruned(EventBase, frozen=True, kw_only=True, tag="session_pruned"):
    """The session's frames, trees and caches were dropped; its events stay."""

    reason: str = ""


class SessionsDeleted(EventBase, frozen=True, kw_only=True, tag="sessions_deleted"):
    """The operator deleted these sessions; the event belongs to no session."""

    of_no_session: ClassVar[bool] = True

    session_ids: tuple[str, ...]


AnyRecordEvent: TypeAlias = (
    SessionRolledBack
    | SessionKept
    | SessionTagged
    | SessionRenamed
    | SessionEndpointChosen
    | SessionDismissed
    | SessionPruned
    | SessionsDeleted
)
