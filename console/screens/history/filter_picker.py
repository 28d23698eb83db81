"""Choose a filter of the History: those that were saved, then those that everybody needs.

A dialog that returns the filter's text; applying it is the History's business.
"""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content

from agent.text import one_line
from console.screens.dialogs.dialog import Dialog, foot
from console.screens.history.filters import BUILT_IN, HINT
from widgets.base.header_line import PartsLine
from widgets.base.row_list import RowList
from widgets.base.rows import Line, Row


class FilterPicker(Dialog[str]):
    """A list of filters.

    Args:
        saved: those of the operator.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "leave", "Back", show=False)]
    AUTO_FOCUS = "#filters"

    def __init__(self, saved: Sequence[str]) -> None:
        super().__init__()
        self._saved = saved

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog small", id="palette") as dialog:
            dialog.border_title = "Filters"
            keys = foot(("enter", "shows"), ("esc", "back"))
            dialog.border_subtitle = Content("S in the list saves or forgets · ") + keys
            yield RowList(id="filters")
            yield PartsLine(((f" {HINT}", "$faint"),))

    def on_mount(self) -> None:
        rows = [
            Row(text, (Line(((one_line(text, 120), "$foreground"),), ((kind, "$muted"),)),))
            for kind, texts in (("saved", self._saved), ("", BUILT_IN))
            for text in texts
            if kind or text not in self._saved
        ]
        table = self.query_one(RowList)
        table.show_rows(rows)
        table.move_to(rows[0].key)

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        self.dismiss(event.key)

    def action_leave(self) -> None:
        """Change nothing."""
        self.dismiss("")
