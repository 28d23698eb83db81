"""A pane that shows one long text of a stored step: tree, prompt or reply; scrolled, never edited.

Draws what it is given. Invariant: another text starts at its top, the same one keeps its place.
"""

from textual.app import ComposeResult
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from widgets.base.rows import Parts
from widgets.base.scroll_pane import ScrollPane
from widgets.transcript.paragraph_strips import lines_of
from widgets.transcript.record_lines import hanging, lines_of_parts


class _Text(Widget):
    """A text whose lines wrap under themselves."""

    DEFAULT_CSS = "_Text { height: auto; width: 1fr; }"
    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__()
        self.parts: Parts = ()
        self._hang = 0
        self._drawn: tuple[object, list[Strip]] = (None, [])

    def show(self, parts: Parts, hang: int) -> None:
        """Show another text; `hang` characters stand before the text of each line."""
        if (parts, hang) != (self.parts, self._hang):
            self.parts, self._hang = parts, hang
            self.refresh(layout=True)

    def _strips(self, width: int) -> list[Strip]:
        made_for = self.parts, self._hang, width, self.visual_style
        if made_for != self._drawn[0]:
            # Where the label would have no room, it stands where it can.
            hang = self._hang if width >= 3 * self._hang else 0
            lines = lines_of_parts(self.parts)
            self._drawn = (
                made_for,
                [
                    drawn.strip.crop(0, width)
                    for line in lines
                    for drawn in lines_of(self, hanging(line, hang), width)
                ],
            )
        return self._drawn[1]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._strips(width))

    def render_line(self, y: int) -> Strip:
        strips = self._strips(self.size.width)
        blank = Strip.blank(self.size.width, self.visual_style.rich_style)
        return strips[y] if y < len(strips) else blank


class RecordPane(ScrollPane):
    """One text."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._text = _Text()
        self._key = ""

    def compose(self) -> ComposeResult:
        yield self._text

    @property
    def parts(self) -> Parts:
        return self._text.parts

    def show_text(self, key: str, parts: Parts, hang: int = 0) -> None:
        """Show a text; `key` names which one it is.

        Args:
            hang: characters that stand before the text of each line, which wraps under itself.
        """
        self._text.show(parts, hang)
        if key != self._key:
            self._key = key
            self.scroll_home(animate=False)
