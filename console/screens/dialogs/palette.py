"""The palette: everything that can be done, found by its name or typed with its arguments.

A dialog that returns the chosen entry; doing it is `console.app_parts.palette_actions`'s.
Invariants: what enter does is decided by what is typed and where the cursor is, in the handling of
that key; what cannot be done now is listed with the reason, and choosing it says so.
"""

from collections.abc import Callable, Mapping
from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input

from agent.text import one_line
from console.base_app import ConsoleApp
from console.palette.entry import Entry, Kind
from console.palette.ranking import Search
from console.screens.dialogs.dialog import Dialog, foot
from widgets.base.header_line import cut_middle
from widgets.base.hint_input import HintInput
from widgets.base.row_list import RowList
from widgets.base.rows import Line, Row

Typed = Callable[[str], list[Entry] | None]
_NAME_CELLS = 20
_OF_SESSIONS = frozenset({Kind.SESSION, Kind.REPLAY, Kind.EXPORT})
_MOST_CHARS = 4000
_HINT = "An action, session, phone, setting or command: “set run.max_steps 40”, “open @phone”"


class PaletteScreen(Dialog[Entry | None]):
    """A field over a list of entries.

    Args:
        offered: every entry.
        recent: the place of each entry that was chosen before, 0 for the last one.
        typed: lists what a typed line is or may become; None where it is a search.
        text: what the field holds at first.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+p", "leave", "Back", show=False, priority=True),
        Binding("down,ctrl+n", "move(1)", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
        Binding("pagedown", "page(1)", show=False, priority=True),
        Binding("pageup", "page(-1)", show=False, priority=True),
        Binding("enter", "choose", "Do it", show=False, priority=True),
        Binding("tab", "complete", "Complete", show=False, priority=True),
    ]

    def __init__(
        self,
        offered: list[Entry],
        *,
        recent: Mapping[str, int] | None = None,
        typed: Typed | None = None,
        text: str = "",
    ) -> None:
        super().__init__()
        self._search = Search(offered, recent)
        self._typed = typed
        self._text = text
        self._found: dict[str, Entry] = {}
        self._is_behind = False
        """Whether the field holds something else than what is listed."""

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog", id="palette") as dialog:
            dialog.border_title = "Palette"
            dialog.border_subtitle = foot(("enter", "run"), ("tab", "complete"), ("esc", "back"))
            yield HintInput(
                self._text, hint=_HINT, compact=True, select_on_focus=False, max_length=_MOST_CHARS
            )
            yield RowList(id="found", empty="Nothing has that name.")

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self._show(self._text)

    def on_input_changed(self, event: Input.Changed) -> None:
        assert isinstance(self.app, ConsoleApp)
        self._is_behind = True
        if not self.app.gate.waiting:
            # While more keys wait, one of them will change what is looked for.
            self._catch_up()

    def _catch_up(self) -> None:
        """Look for what is in the field, unless it is what is listed."""
        if self._is_behind:
            self._show(self.query_one(Input).value)

    def _show(self, text: str) -> None:
        self._is_behind = False
        lines = self._typed(text) if self._typed is not None else None
        found = self._search.find(text) if lines is None else lines
        # Two commands may complete to the same words: what is listed is listed once.
        self._found = {f"{entry.key} {entry.line}": entry for entry in found}
        listed = self.query_one(RowList)
        width = listed.text_width if listed.size.width else 0
        listed.show_rows([_row(key, entry, width) for key, entry in self._found.items()])
        if listed.rows:
            listed.move_to(listed.rows[0].key)

    @property
    def _under_cursor(self) -> Entry | None:
        self._catch_up()
        return self._found.get(self.query_one(RowList).cursor_key)

    def action_move(self, by: int) -> None:
        self._catch_up()
        self.query_one(RowList).action_move(by)

    def action_page(self, direction: int) -> None:
        """Move the cursor by half of what is visible."""
        self._catch_up()
        self.query_one(RowList).action_page(direction)

    def action_complete(self) -> None:
        """Put what the entry under the cursor completes to into the field."""
        entry = self._under_cursor
        typed = self.query_one(Input).value.strip()
        if entry is not None and not entry.completes and entry.line == typed:
            # The line itself has nothing to complete: the nearest word below it has.
            entry = next((one for one in self._found.values() if one.completes), entry)
        if entry is not None:
            self._write(entry.completes or entry.line or entry.name)

    def action_choose(self) -> None:
        """Do the entry under the cursor, or put it into the field where it needs more words."""
        self._choose(self._under_cursor)

    def _choose(self, entry: Entry | None) -> None:
        if entry is not None and entry.completes and not entry.why_not:
            self._write(entry.completes)
        else:
            self.dismiss(entry)

    def _write(self, text: str) -> None:
        field = self.query_one(Input)
        field.value = text
        field.cursor_position = len(text)
        self._show(text)

    def action_leave(self) -> None:
        self.dismiss(None)

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        self._choose(self._found.get(event.key))


def _row(key: str, entry: Entry, width: int) -> Row:
    """Write an entry; of sessions of one name the sentence differs, which is never cut away."""
    can = not entry.why_not
    name = one_line(entry.name, 160)
    sentence = one_line(entry.sentence if can else entry.why_not, 240)
    if width and entry.kind in _OF_SESSIONS:
        room = width - cell_len(sentence) - cell_len(entry.kind.value) - 4
        name = cut_middle(name, max(_NAME_CELLS, room))
    left = (
        (f"{name:<{_NAME_CELLS}}", "bold $foreground" if can else "$faint"),
        (f"  {sentence}", "$muted" if can else "$faint"),
    )
    kind = "" if entry.kind in {Kind.ACTION, Kind.OPTION} else entry.kind.value
    return Row(
        key, (Line(left, ((entry.keys or kind, "$footer-key" if entry.keys else "$faint"),)),)
    )
