"""Choosing what kind of file a session is written as.

A dialog that returns the kind; writing it is the replay's business.
"""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from console.report.writing import Kind
from widgets.row_list import Line, Row, RowList
from widgets.sturdy import Sturdy

_SAID = {
    Kind.PAGE: "frames, steps and plots, in one file",
    Kind.MP4: "a film of its frames, for a browser or a chat",
    Kind.GIF: "the same, for where films are not shown",
    Kind.ROLLOUT: "JSON lines, for 'sessions import' elsewhere",
}


class ExportScreen(Sturdy, ModalScreen[Kind | None]):
    """A short list."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", show=False, priority=True),
    ]

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog small", id="export") as dialog:
            dialog.border_title = "Write as"
            dialog.border_subtitle = "enter writes · esc back"
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
        """Write nothing."""
        self.dismiss(None)
