"""A phone's screen as text under a cursor: what is there, where it is, and what can be pressed.

Draws what it is given, in any terminal. Not the reading of the screen. Invariants: the cursor
stays on its element (by key) when the screen is read anew; the cursor is seen without colour.
"""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click, Resize
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.visual import Visual

from agent.records import Element
from widgets.base.empty_sentence import EmptySentence
from widgets.base.fault_isolation import FaultIsolated
from widgets.pictures.map_layout import Entry, MapLayout, can_be_used, cells, entry_text, lay_out

_EMPTY_LAYOUT = MapLayout((), 0)
_CURSOR = "▸"


class TextMap(FaultIsolated, ScrollView, can_focus=True):
    """The elements of a screen as text."""

    DEFAULT_CSS = """
    TextMap { height: 1fr; width: 1fr; overflow-x: hidden; scrollbar-size-vertical: 1; }
    """
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(0, 1)", "Down", show=False, id="view.down"),
        Binding("up,k", "move(0, -1)", "Up", show=False, id="view.up"),
        Binding("left", "move(-1, 0)", "Left", show=False),
        Binding("right", "move(1, 0)", "Right", show=False),
        Binding("g,home", "go('first')", "First", show=False, id="view.first"),
        Binding("G,end", "go('last')", "Last", show=False, id="view.last"),
        Binding("ctrl+d,pagedown", "page(1)", "Half a page down", show=False, id="view.page_down"),
        Binding("ctrl+u,pageup", "page(-1)", "Half a page up", show=False, id="view.page_up"),
        Binding("enter", "press", "Press", show=False),
    ]

    class Pressed(Message):
        """The operator pressed enter on an element, or clicked it."""

        def __init__(self, element: Element) -> None:
            super().__init__()
            self.element = element

    class Moved(Message):
        """The cursor is on another element."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.empty = ""
        self.presses_at_once = False
        """Whether one click presses, as on the picture of a phone that is driven."""
        self.is_old = False
        """Whether the screen is another by now; then the map is drawn fainter."""
        self._nothing = EmptySentence(indent=1)
        self._elements: Sequence[Element] = ()
        self._layout = _EMPTY_LAYOUT
        self._key = ""

    # --- what is shown ----------

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What is shown, from top to bottom."""
        return self._layout.entries

    @property
    def chosen(self) -> Element | None:
        """The element under the cursor."""
        at = self._at()
        return None if at is None else self.entries[at].element

    def is_cut(self, element: Element) -> bool:
        shown = next((one.text for one in self.entries if one.element is element), "")
        return shown != entry_text(element)

    def show_elements(self, elements: Sequence[Element], *, empty: str, old: bool = False) -> None:
        """Show the elements of a screen.

        Args:
            elements: numbered.
            empty: what is said where there are none.
            old: whether the screen is known to be another by now.
        """
        if elements == self._elements and (empty, old) == (self.empty, self.is_old):
            return
        self._elements, self.empty, self.is_old = elements, empty, old
        self._lay_out()

    def choose(self, number: int) -> None:
        """Put the cursor on an element, as a program does it."""
        for at, entry in enumerate(self.entries):
            if entry.element.number == number:
                self._move_to(at)
                return

    def _lay_out(self) -> None:
        columns, rows = self.scrollable_content_region.size
        before = self._at()
        # A bar that comes because of many lines takes a column from them.
        self._layout = lay_out(self._elements, columns, rows)
        if self._layout.lines > rows and not self.show_vertical_scrollbar:
            self._layout = lay_out(self._elements, columns - 1, rows)
        self.virtual_size = Size(0, self._layout.lines)
        if self._at() is None and self.entries:
            # What was under the cursor is gone: what took its place is nearest.
            self._key = self.entries[min(before or 0, len(self.entries) - 1)].key
        self.refresh()

    def _at(self) -> int | None:
        keys = (at for at, entry in enumerate(self.entries) if entry.key == self._key)
        return next(keys, None)

    # --- keys and mouse ----------

    def _move_to(self, at: int) -> None:
        entry = self.entries[at]
        if entry.key != self._key:
            self._key = entry.key
            self.refresh()
            self.post_message(self.Moved())
        self.scroll_to_region(Region(0, entry.line, 1, 1), animate=False, force=True)

    def action_move(self, across: int, down: int) -> None:
        """Move the cursor to the element beside."""
        at = self._at()
        if at is not None:
            self._move_to(self._layout.beside(at, across, down))

    def action_go(self, where: str) -> None:
        """Move the cursor to the first or last element."""
        if self.entries:
            self._move_to(0 if where == "first" else len(self.entries) - 1)

    def action_page(self, direction: int) -> None:
        """Move the cursor by half of what is visible."""
        at = self._at()
        if at is None:
            return
        wanted = self.entries[at].line + direction * max(1, self.size.height // 2)
        near = min(range(len(self.entries)), key=lambda one: abs(self.entries[one].line - wanted))
        self._move_to(near)

    def action_press(self) -> None:
        """Press the element under the cursor."""
        if (element := self.chosen) is not None:
            self.post_message(self.Pressed(element))

    def on_click(self, event: Click) -> None:
        place = event.get_content_offset_capture(self)
        at = self._layout.at(place.y + self.scroll_offset.y, place.x)
        if at is None:
            return
        was_here = self._at() == at
        self._move_to(at)
        if self.presses_at_once or (was_here and event.chain > 1):
            self.action_press()

    # --- drawing ----------

    def on_resize(self, _event: Resize) -> None:
        self._lay_out()

    def on_show(self) -> None:
        self._lay_out()

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        if not self.entries:
            return self._nothing.line(self, self.empty, y, width)
        y += self.scroll_offset.y
        parts: list[Content] = []
        end = 0
        for entry in self.entries:
            if entry.line == y:
                parts += [Content(" " * (entry.column - end)), self._drawn(entry)]
                end = entry.column + cells(entry.text)
        whole = Content("").join(parts)
        style = self.visual_style
        [strip, *_] = Visual.to_strips(self, whole, width, 1, style) or [Strip.blank(width)]
        return strip.adjust_cell_length(width, style.rich_style)

    def _drawn(self, entry: Entry) -> Content:
        here = entry.key == self._key
        element, body = entry.element, entry.text[1:]
        ground = " on $cursor" if here and self.has_focus else " on $cursor-blurred" if here else ""
        if self.is_old:
            return Content.styled(f"{_CURSOR if here else ' '}{body}", f"$faint{ground}")
        lead = Content.styled(_CURSOR if here else " ", f"bold $primary{ground}")
        if not can_be_used(element):
            return Content.assemble(lead, Content.styled(body, f"$muted{ground}"))
        number, space, said = body.partition(" ")
        tone = "$foreground" if element.enabled else "$faint"
        if here:
            tone = f"bold {tone}"
        return Content.assemble(
            lead,
            Content.styled(f"{number}{space}", f"$ask{ground}"),
            Content.styled(said, f"{tone}{ground}"),
        )
