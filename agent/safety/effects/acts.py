"""An act on a phone, as the judge sees it: what would be pressed, typed, swiped or opened.

Not a tool call (`agent.tools.actions`), so that every tool that touches a phone is judged alike.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import TypeAlias

import msgspec

from agent.protocol import ToolCallRequested
from agent.records import Element, Observation, Point


class ActKind(StrEnum):
    """How the phone is touched."""

    PRESS = "press"
    LONG_PRESS = "long_press"
    TYPE = "type"
    KEY = "key"
    SWIPE = "swipe"  # A short stroke over an element or the screen; `direction` says where.
    DRAG = "drag"  # A stroke from `point` to `end`.
    LAUNCH = "launch"
    OPEN_LINK = "open_link"
    VIEW = "view"  # A change of how the screen is shown, as by turning it; nothing is touched.
    COPY = "copy"  # Put `text` on the clipboard.


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """One act. An act with a point and no element is judged by what lies at the point."""

    kind: ActKind
    element: Element | None = None
    point: Point | None = None  # In shares of the display.
    end: Point | None = None
    text: str = ""
    clear: bool = False  # The field is emptied before the text is typed.
    key: str = ""  # ENTER, DELETE, BACK …
    direction: str = ""
    package: str = ""  # The app that would be launched.
    link: str = ""
    is_secret: bool = False  # The text goes into a field for a secret.


ReadActs: TypeAlias = Callable[[ToolCallRequested, Observation | None], tuple[Act, ...]]
"""Return the acts of a stored call on the screen that it was meant for; none where it did none."""
