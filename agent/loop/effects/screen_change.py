"""What a comparison of two screens found, before it is numbered and attributed."""

from dataclasses import dataclass
from enum import Enum, auto

from agent.records import Element, FieldFate, SeenEffectKind

ON, OFF = "on", "off"


class Cause(Enum):
    """Which act a change is attributed to."""

    CONTENT = auto()  # The newest that can have changed what the page holds.
    NEWEST = auto()


@dataclass(frozen=True, slots=True)
class ScreenChange:
    """One change."""

    kind: SeenEffectKind
    object: str = ""
    before: str = ""
    after: str = ""
    saved: FieldFate = FieldFate.NONE
    element: Element | None = None
    was_there: bool = False
    """The element is on the screen before; it is gone from the newest."""
    page: str = ""
    """The page's name where it is not the newest screen's."""
    cause: Cause = Cause.CONTENT
