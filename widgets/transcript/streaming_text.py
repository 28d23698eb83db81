"""What a model is saying just now, drawn below the items of its transcript."""

from textual.widget import Widget

from agent.text import clean
from widgets.transcript.paragraph_strips import DrawnLine, lines_of
from widgets.transcript.transcript_lines import Paragraph

_MOST = 2_000  # Characters that are drawn: the last.


class StreamingText:
    """The words of a reply that is still coming.

    Args:
        widget: in whose styles they are drawn.
    """

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._said = ""
        self.lines: list[DrawnLine] = []
        """As they are drawn; empty while nothing is said."""

    def take(self, text: str, width: int) -> bool:
        """Draw other words, in lines of so many cells; False when they are the same."""
        if text == self._said:
            return False
        self._said = text
        self.draw(width)
        return True

    def draw(self, width: int) -> None:
        """Draw the words again, in lines of so many cells."""
        if not self._said:
            self.lines = []
            return
        said = clean(self._said[-_MOST:], _MOST)
        paragraph = Paragraph((("   … ", "$live"),), ((said, "italic $muted"),))
        self.lines = lines_of(self._widget, paragraph, width)
