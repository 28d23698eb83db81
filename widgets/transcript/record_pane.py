"""A pane that shows one long text of a stored step: tree, prompt or reply; scrolled, never edited.

Draws what it is given. Invariant: another text starts at its top, the same one keeps its place.
"""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll

from widgets.base.fault_isolation import FaultIsolated
from widgets.base.header_line import PartsLine
from widgets.base.rich_parts import Parts


class RecordPane(FaultIsolated, VerticalScroll, can_focus=True):
    """One text."""

    DEFAULT_CSS = """
    RecordPane { height: 1fr; padding: 0 1; scrollbar-size-vertical: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "scroll_down", "Down", show=False, id="view.down"),
        Binding("up,k", "scroll_up", "Up", show=False, id="view.up"),
        Binding(
            "ctrl+d,pagedown", "page_down", "Half a page down", show=False, id="view.page_down"
        ),
        Binding("ctrl+u,pageup", "page_up", "Half a page up", show=False, id="view.page_up"),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._text = PartsLine(id="record-text")
        self._key = ""

    def compose(self) -> ComposeResult:
        yield self._text

    @property
    def parts(self) -> Parts:
        """What is shown."""
        return self._text.parts

    def show_text(self, key: str, parts: Parts) -> None:
        """Show a text; `key` names which one it is."""
        self._text.show(parts)
        if key != self._key:
            self._key = key
            self.scroll_home(animate=False)
