"""Define replays: the op that requests one, and the route that the new session follows."""

from typing import ClassVar, TypeAlias

import msgspec

from agent.protocol.base import CreatingOp, EventBase
from agent.records import Allows, Right, RouteAction


class SessionReplay(CreatingOp, frozen=True, kw_only=True, tag="session_replay"):
    """Repeat a session's actions in a new session that asks its model only where the screen
    differs; the reply names it.
    """

    needs: ClassVar[tuple[Right, ...]] = (Right.DRIVE,)
    allows: ClassVar[Allows] = Allows.WORDS
    returns: ClassVar[str] = "the id of the new session"

    session_id: str
    serial: str = ""  # The phone; empty: the one the session worked on.


class RouteGiven(EventBase, frozen=True, kw_only=True, tag="route_given"):
    """The session will repeat another session's actions as far as its screens match."""

    origin: str  # The session that did it.
    actions: tuple[RouteAction, ...] = msgspec.field(name="deeds")


AnyRouteOp: TypeAlias = SessionReplay


AnyRouteEvent: TypeAlias = RouteGiven
