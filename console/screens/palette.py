"""The palette: every action that can be done here, found by its name, with its key.

A dialog that returns the id of an action; doing it is the app's business.
"""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from console import actions
from console.keymap import Keymap
from widgets.row_list import Line, Row, RowList
from widgets.sturdy import Sturdy


class PaletteScreen(Sturdy, ModalScreen[str]):
    """A field over a list of actions."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+p", "leave", "Back", show=False, priority=True),
        Binding("down,ctrl+n", "move(1)", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("pagedown", "page(1)", show=False, priority=True),
        Binding("pageup", "page(-1)", show=False, priority=True),
        Binding("enter", "choose", "Do it", show=False, priority=True),
    ]

    def __init__(self, offered: list[actions.Action], keymap: Keymap) -> None:
        super().__init__()
        self._keymap = keymap
        self._offered = offered

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="palette") as dialog:
            dialog.border_title = "Palette"
            dialog.border_subtitle = "enter does it · esc back"
            yield Input(placeholder="What do you want to do?", compact=True)
            yield RowList(id="found", empty="No action is called that.")

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self._show("")

    def on_input_changed(self, event: Input.Changed) -> None:
        self._show(event.value)

    def _show(self, wanted: str) -> None:
        found = self.query_one(RowList)
        found.show_rows([_row(action, self._keymap) for action in search(self._offered, wanted)])
        if found.rows:
            found.move_to(found.rows[0].key)

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        self.query_one(RowList).action_move(by)

    def action_page(self, direction: int) -> None:
        """Move the cursor by half of what is visible."""
        self.query_one(RowList).action_page(direction)

    def action_choose(self) -> None:
        """Do the action under the cursor."""
        self.dismiss(self.query_one(RowList).cursor_key)

    def action_leave(self) -> None:
        """Do nothing."""
        self.dismiss("")

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        self.dismiss(event.key)


def search(offered: list[actions.Action], wanted: str) -> list[actions.Action]:
    """Find actions whose words hold every wanted word; those whose title begins so come first."""
    words = wanted.casefold().split()

    def hay(action: actions.Action) -> str:
        return f"{action.title} {action.group} {action.sentence} {action.id}".casefold()

    found = [action for action in offered if all(word in hay(action) for word in words)]
    start = " ".join(words)
    return sorted(found, key=lambda action: not action.title.casefold().startswith(start))


def _row(action: actions.Action, keymap: Keymap) -> Row:
    left = ((f"{action.title:<16}", "bold $foreground"), (f" {action.sentence}", "$muted"))
    keys = keymap.names(action)
    return Row(action.id, (Line(left, ((keys, "$footer-key"),)),))
