"""A pane that shows one long text of a stored step: tree, prompt or reply; scrolled, never edited.

Draws what it is given. Invariant: another text starts at its top, the same one keeps its place.
"""

from textual.app import ComposeResult

from widgets.base.header_line import PartsLine
from widgets.base.rows import Parts
from widgets.base.scroll_pane import ScrollPane


class RecordPane(ScrollPane):
    """One text."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._text = PartsLine(id="record-text")
        self._key = ""

    def compose(self) -> ComposeResult:
        yield self._text

    @property
    def parts(self) -> Parts:
        return self._text.parts

    def show_text(self, key: str, parts: Parts) -> None:
        """Show a text; `key` names which one it is."""
        self._text.show(parts)
        if key != self._key:
            self._key = key
            self.scroll_home(animate=False)
