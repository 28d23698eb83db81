"""Define a route: a session's actions, to be repeated by element identity, not by position."""

from agent.records.observation import Element
from agent.records.record import Record


class RouteAction(Record, frozen=True, kw_only=True):
    """One action, and the app in which it was done."""

    tool: str
    arguments: str  # JSON object; the number of an element in it is that of the screen then.
    element: Element | None = None
    package: str = ""  # The app that was in front.
