"""The sentence in an empty widget, laid out once per width and style.

The widget decides when to show it. Invariant: each line has the requested width.
"""

from rich.segment import Segment
from textual.content import Content
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual
from textual.widget import Widget


class EmptySentence:
    """The sentence of an empty widget.

    Args:
        indent: cells before the sentence.
        above: empty lines before it.
        margin: cells between it and the right edge.
    """

    def __init__(self, *, indent: int = 2, above: int = 0, margin: int = 0) -> None:
        self._indent = indent
        self._above = above
        self._margin = margin
        self._laid_for: tuple[str, int, Style] | None = None
        self._lines: list[Strip] = []
        self._blank = Strip([])

    def line(self, widget: Widget, sentence: str, y: int, width: int) -> Strip:
        """Draw line `y` of an empty widget that is `width` cells wide."""
        style = widget.visual_style
        if (sentence, width, style) != self._laid_for:
            self._laid_for = (sentence, width, style)
            self._lay_out(widget, sentence, width, style)
        at = y - self._above
        return self._lines[at] if 0 <= at < len(self._lines) else self._blank

    def _lay_out(self, widget: Widget, sentence: str, width: int, style: Style) -> None:
        base = style.rich_style
        room = max(1, width - self._indent - self._margin)
        pad = Segment(" " * self._indent, base)
        drawn = Visual.to_strips(widget, Content.styled(sentence, "$muted"), room, None, style)
        self._lines = [Strip([pad, *strip]).adjust_cell_length(width, base) for strip in drawn]
        self._blank = Strip.blank(width, base)
