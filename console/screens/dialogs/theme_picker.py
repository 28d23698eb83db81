"""The colours: every theme there is, seen at once as the cursor moves; enter keeps one.

A dialog that returns the theme that was chosen, or nothing; keeping it is the app's business.
Invariant: leaving without a choice brings the former colours back.
"""

from collections.abc import Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.theme import Theme

from console.screens.dialogs.dialog import Dialog, foot
from console.terminal.themes import DARK, LIGHT
from widgets.base.row_list import RowList
from widgets.base.rows import Line, Row


class ThemePicker(Dialog[str]):
    """A list of themes."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "leave", "Back", show=False)]
    AUTO_FOCUS = "#themes"

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog small", id="palette") as dialog:
            dialog.border_title = "Colours"
            dialog.border_subtitle = foot(("enter", "keeps it"), ("esc", "restores the former"))
            yield RowList(id="themes", empty="There are no themes.")

    def on_mount(self) -> None:
        self._former = self.app.theme
        table = self.query_one(RowList)
        table.show_rows(theme_rows(self.app.available_themes))
        table.move_to(self._former)

    def on_row_list_highlighted(self, event: RowList.Highlighted) -> None:
        if event.by_operator:
            self.app.theme = event.key

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        self.app.theme = event.key
        self.dismiss(event.key)

    def action_leave(self) -> None:
        """Bring the former colours back."""
        self.app.theme = self._former
        self.dismiss("")


def theme_rows(themes: Mapping[str, Theme]) -> list[Row]:
    """List themes, a line each: our two, then those that follow the terminal, then the others."""
    own = (DARK.name, LIGHT.name)

    def place(name: str) -> tuple[int, str]:
        return (own.index(name) if name in own else 2 if "ansi" in name else 3, name)

    rows: list[Row] = []
    for name in sorted(themes, key=place):
        kind = "dark" if themes[name].dark else "light"
        if "ansi" in name:
            kind = f"{kind}, the terminal's own colours"
        rows.append(Row(name, (Line(((name, "$foreground"),), ((kind, "$muted"),)),)))
    return rows
