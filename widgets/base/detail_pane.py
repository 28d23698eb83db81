"""A scrollable pane with the details of the row under a list's cursor.

The caller supplies the text. Invariant: enter returns to the list.
"""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.message import Message

from widgets.base.fault_isolation import FaultIsolated
from widgets.base.header_line import PartsLine
from widgets.base.rows import Parts


class DetailPane(FaultIsolated, VerticalScroll, can_focus=True):
    """Scrollable text made of parts."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "scroll_down", "Down", show=False, id="view.down"),
        Binding("up,k", "scroll_up", "Up", show=False, id="view.up"),
        Binding("g,home", "scroll_home", "First", show=False, id="view.first"),
        Binding("G,end", "scroll_end", "Last", show=False, id="view.last"),
        Binding("ctrl+d,pagedown", "page_down", "Page down", show=False, id="view.page_down"),
        Binding("ctrl+u,pageup", "page_up", "Page up", show=False, id="view.page_up"),
        Binding("enter", "leave", "List", show=False),
    ]

    class Left(Message):
        """The operator has finished reading."""

    def compose(self) -> ComposeResult:
        yield PartsLine()

    def show(self, parts: Parts) -> None:
        """Show other parts, keeping the scroll position."""
        line = self.query_one(PartsLine)
        if line.parts != parts:
            line.show(parts)
            # Of two updates before one layout, Textual 8.2 keeps the height of the first.
            line.call_after_refresh(line.refresh, layout=True)

    def action_leave(self) -> None:
        """Go back to the list."""
        self.post_message(self.Left())
