"""A pane that shows what was spent: drawn once for what it is given, scrolled where it is long.

Reads nothing. Invariant: it is drawn for the width it has, also after a resize.
"""

from datetime import date

from textual.app import ComposeResult

from agent.records import Spending
from widgets.base.header_line import PartsLine
from widgets.base.rows import Parts
from widgets.base.scroll_pane import ScrollPane
from widgets.plots.spending_plot import Measure, spending_parts, telling

DAYS = 14
_MARGIN = 2  # Columns that are not text: the padding at both sides.


class SpendingPane(ScrollPane):
    """Bars of what was spent."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._chosen: Measure | None = None
        """What the operator wants measured; None before anything was chosen."""
        self._text = PartsLine((("Adding up …", "$muted"),), id="spending-text")
        self._shown: tuple[Spending, date] | None = None

    def compose(self) -> ComposeResult:
        yield self._text

    @property
    def parts(self) -> Parts:
        return self._text.parts

    @property
    def measure(self) -> Measure:
        if self._chosen is not None or self._shown is None:
            return self._chosen or Measure.TOKENS
        return telling(self._shown[0])

    def show_spending(self, spending: Spending, today: date) -> None:
        """Show what was spent up to a day."""
        self._shown = (spending, today)
        self._draw()

    def measure_next(self) -> None:
        """Let the bars measure something else."""
        self._chosen = self.measure.next
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        if self._shown is None:
            return
        spending, today = self._shown
        width = max(1, self.scrollable_content_region.width - _MARGIN)
        self._text.show(
            spending_parts(spending, today=today, days=DAYS, measure=self.measure, width=width)
        )
