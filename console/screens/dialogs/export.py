"""Choosing what kind of file a session is written as.

A dialog that returns the kind; writing it is the replay's business.
"""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from console.report.writing import Kind
from console.screens.dialogs.dialog import Dialog, foot
from widgets.base.header_line import PartsLine
from widgets.base.row_list import RowList
from widgets.base.rows import Line, Row

_SAID = {
    Kind.PAGE: "frames, steps and plots, in one file",
    Kind.MP4: "a film of its frames, for a browser or a chat",
    Kind.GIF: "the same, for where films are not shown",
    Kind.ROLLOUT: "JSON lines, for 'sessions import' elsewhere",
}


class ExportScreen(Dialog[Kind | None]):
    """A short list.

    Args:
        missing: what is no longer stored of the session; empty where all is.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", show=False, priority=True)
    ]

    def __init__(self, missing: str = "") -> None:
        super().__init__()
        self._missing = missing

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog small", id="export") as dialog:
            dialog.border_title = "Write as"
            dialog.border_subtitle = foot(("enter", "write"), ("esc", "back"))
            yield PartsLine(((self._missing, "$warn"),) if self._missing else (), id="missing")
            yield RowList(id="kinds")

    def on_mount(self) -> None:
        kinds = self.query_one(RowList)
        kinds.show_rows(
            [
                Row(kind.name, (Line(((f"{kind.value:<14}", "bold"), (_SAID[kind], "$muted"))),))
                for kind in Kind
            ]
        )
        kinds.move_to(Kind.PAGE.name)
        kinds.focus()

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        self.dismiss(Kind[event.key])

    def action_leave(self) -> None:
        self.dismiss(None)
