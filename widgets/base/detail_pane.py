"""What there is to say of the row under a cursor, as text that scrolls by the keys of the lists.

Not the list, and not what is said. Invariant: enter leads back to the list it belongs to.
"""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.message import Message

from widgets.base.fault_isolation import FaultIsolated
from widgets.base.header_line import PartsLine
from widgets.base.rows import Parts


class DetailPane(FaultIsolated, VerticalScroll, can_focus=True):
    """Text of parts, as long as it has to be."""

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
        """The operator is done with reading."""

    def compose(self) -> ComposeResult:
        yield PartsLine()

    def show(self, parts: Parts) -> None:
        """Show other parts; how far the text was read stays."""
        line = self.query_one(PartsLine)
        if line.parts != parts:
            line.show(parts)
            # Of two updates before one layout, Textual 8.2 keeps the height of the first.
            line.call_after_refresh(line.refresh, layout=True)

    def action_leave(self) -> None:
        """Go back to the list."""
        self.post_message(self.Left())
