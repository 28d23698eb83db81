"""The view tree: what a screen is made of, before and after layout.

Data only: layout fills in the rectangles, drawing and hit testing read them. Lengths are in
density-independent pixels (dp) until layout, which works in display pixels. Invariant: a laid-out
tree is never changed again; a change of state builds a new tree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from enum import StrEnum
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from virtual_phone.ui.canvas import Canvas
    from virtual_phone.ui.layers import Layer

MATCH = -1.0
"""A length: as much as the parent gives."""
WRAP = -2.0
"""A length: as much as the content needs."""


class Rect(NamedTuple):
    """A rectangle in display pixels; right and bottom are exclusive."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        return self.right - self.left

    @property
    def height(self) -> int:
        return self.bottom - self.top

    @property
    def empty(self) -> bool:
        return self.right <= self.left or self.bottom <= self.top

    def contains(self, x: float, y: float) -> bool:
        return self.left <= x < self.right and self.top <= y < self.bottom

    def intersect(self, other: Rect) -> Rect:
        left, top, right, bottom = self
        l2, t2, r2, b2 = other
        if left >= l2 and top >= t2 and right <= r2 and bottom <= b2:
            return self
        left, top = left if left > l2 else l2, top if top > t2 else t2
        right, bottom = right if right < r2 else r2, bottom if bottom < b2 else b2
        return Rect(left, top, right if right > left else left, bottom if bottom > top else top)

    def translated(self, dx: int, dy: int) -> Rect:
        return Rect(self.left + dx, self.top + dy, self.right + dx, self.bottom + dy)


NOWHERE = Rect(0, 0, 0, 0)


class Kind(StrEnum):
    """How a view lays out its children, or what a leaf draws."""

    COLUMN = "column"
    ROW = "row"
    STACK = "stack"
    GRID = "grid"
    TEXT = "text"
    ICON = "icon"
    SWITCH = "switch"
    RADIO = "radio"
    SLIDER = "slider"
    FIELD = "field"
    ART = "art"
    PROGRESS = "progress"
    SPACE = "space"


class Align(StrEnum):
    """Where a child stands in the room it has, on one axis."""

    START = "start"
    CENTER = "center"
    END = "end"
    FILL = "fill"
    BETWEEN = "between"


@dataclass(frozen=True, slots=True)
class TextStyle:
    """How text is set: size in sp, weight 100-900, a theme role or #RRGGBB as color."""

    size: float = 14
    weight: int = 400
    color: str = "text"
    max_lines: int = 0  # 0 means as many as it takes; text that does not fit ends in an ellipsis.
    align: Align = Align.START
    line_height: float = 1.3
    strike: bool = False


PLAIN = TextStyle()
Insets = tuple[float, float, float, float]
"""left, top, right, bottom in dp"""
NO_INSETS: Insets = (0, 0, 0, 0)


@dataclass(slots=True, eq=False)
class View:
    """A node of a screen; build one with the functions in `virtual_phone.ui.vocabulary`."""

    kind: Kind
    cls: str = "android.view.View"
    id: str = ""
    key: str = ""
    """Names the view across rebuilds (scroll position, text being edited, focus)."""
    text: str = ""
    desc: str = ""
    hint: str = ""
    children: list[View] = field(default_factory=list)
    # what it can do
    on_click: Callable[[], object] | None = None
    on_long_click: Callable[[], None] | None = None
    on_text: Callable[[str], None] | None = None
    on_submit: Callable[[str], None] | None = None
    on_value: Callable[[float], None] | None = None
    on_swipe: Callable[[str], bool] | None = None
    """Takes left, right, up or down and says whether it wanted that one."""
    enabled: bool = True
    checkable: bool = False
    checked: bool = False
    selected: bool = False
    password: bool = False
    focused: bool = False
    multiline: bool = False
    scrolls: bool = False
    reverse: bool = False
    """A scrolling list that keeps its end in view when it grows, like a chat."""
    hidden_from_tree: bool = False
    """Drawn, but absent from the accessibility tree (decoration)."""
    clickable: bool | None = None
    """Overrides what follows from `on_click`."""
    # where it stands
    width: float = WRAP
    height: float = WRAP
    min_height: float = 0
    max_height: float = 0
    weight: float = 0
    pad: Insets = NO_INSETS
    margin: Insets = NO_INSETS
    gap: float = 0
    columns: int = 1
    halign: Align | None = None
    valign: Align | None = None
    cross: Align = Align.START
    """Where children stand across the main axis."""
    main: Align = Align.START
    # how it looks
    fill: str = ""
    stroke: str = ""
    radius: float = 0
    radii: tuple[float, float, float, float] | None = None
    """Corner radii in dp: top left, top right, bottom right, bottom left."""
    elevation: float = 0
    style: TextStyle = PLAIN
    icon: str = ""
    tint: str = "text"
    art: Callable[[Canvas, Rect], None] | None = None
    value: float = 0
    cursor: tuple[int, int] | None = None
    """Selection in a field, as character offsets."""
    cursor_on: bool = True
    pressed: bool = False
    scroll_y: int = 0
    scroll_range: int = 0
    """After layout of a scrolling view: how far it can scroll, in pixels."""
    # after layout, in display pixels
    rect: Rect = NOWHERE
    clip: Rect = NOWHERE
    """The part of `rect` that is on the screen."""
    lines: list[tuple[int, int]] = field(default_factory=list)
    """After layout of text: start and end offset of every line."""
    ellipsized: bool = False
    measured: tuple[int, int] = (0, 0)
    layer: Layer | None = None
    """Of a scrolling view that has moved: its content as one image, shared by its copies."""
    shift_px: int = 0
    """How far below their own rectangles the children are drawn; only in scenes for pictures."""

    def translated(self, dx: int, dy: int, clip: Rect) -> View:
        """Return the laid-out tree anew, moved by whole pixels, seen through another clip."""
        made = View(*_parts(self))
        left, top, right, bottom = self.rect
        made.rect = Rect(left + dx, top + dy, right + dx, bottom + dy)
        made.clip = made.rect.intersect(clip)
        if self.children:
            made.children = [child.translated(dx, dy, made.clip) for child in self.children]
        return made

    def copied(self) -> View:
        """Return the view anew, with the same children, as `copy.copy` would at thrice the cost."""
        return View(*_parts(self))

    @property
    def acts(self) -> bool:
        """Return whether a tap on it does something."""
        if self.clickable is not None:
            return self.clickable
        return self.on_click is not None or self.kind is Kind.FIELD

    @property
    def is_focusable(self) -> bool:
        return self.enabled and (self.acts or self.scrolls or self.kind is Kind.FIELD)


_parts: Callable[[View], tuple[Any, ...]] = attrgetter(*(part.name for part in fields(View)))
"""All that a view is made from, in order."""
