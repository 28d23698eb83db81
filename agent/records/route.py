"""What one session did on a phone, as another is to do it again: by identity, not by place."""

from __future__ import annotations

from agent.records.observation import Element
from agent.records.record import Record


class RouteAction(Record, frozen=True, kw_only=True):
    """One action that was done, and the app it was done in."""

    tool: str
    arguments: str
    """JSON object; the number of an element in it is that of the screen then."""
    element: Element | None = None
    package: str = ""
    """The app that was in front."""
