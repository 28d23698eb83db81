"""Control the Deck's columns: which has the focus, and their widths: automatic, chosen, or full.

`PaneWidths` is pure; the controller applies it and stores the choice. Invariant: no column is
narrower than its minimum, whatever was chosen on a wider screen.
"""

from typing import TYPE_CHECKING, NamedTuple

from textual.events import DescendantFocus, Resize
from textual.widget import Widget

from console.base_app import Keeps
from console.keys.actions import Action
from console.keys.controllers import Controller
from console.screens.base.header_footer import NEXT_QUESTION
from widgets.base.action_line import ActionLine
from widgets.base.splitter import Splitter

if TYPE_CHECKING:
    from console.screens.deck.places import BaseDeck

LEAST_LEFT, LEAST_MIDDLE, LEAST_RIGHT = 24, 36, 26
WIDE, NORMAL = 120, 80
"""Columns of the screen from which three, and two, columns stand beside each other."""
STEP = 4
_READ = 62  # Columns in which a transcript is read well.
_COLUMNS = {"left": "Sessions", "middle": "Session", "right": "Phone"}
NONE = "none"


class PaneWidths(NamedTuple):
    """The widths of the left and the right pane; the middle has the rest."""

    left: int
    right: int


def widths(width: int, height: int, left: int, right: int) -> PaneWidths:
    """Return the widths of the side columns.

    Args:
        width, height: of the screen, in cells.
        left, right: the operator's choice; 0 = automatic.
    """
    if width < WIDE:
        most = max(LEAST_LEFT, width - LEAST_MIDDLE)
        own = max(34, round(width * 0.42))
        return PaneWidths(
            min(max(left or own, LEAST_LEFT), most), min(max(right or 40, LEAST_RIGHT), most)
        )
    # The phone gets the width its height deserves, never more than a third.
    rows = max(10, height - 9)
    right = right or max(LEAST_RIGHT, min(round(rows * 0.9) + 4, width // 3))
    # What the transcript does not need the rows of the lists do.
    left = left or min(80, max(40, round(width * 0.34), width - right - _READ))
    right = max(LEAST_RIGHT, min(right, width - LEAST_MIDDLE - LEAST_LEFT))
    left = max(LEAST_LEFT, min(left, width - LEAST_MIDDLE - right))
    return PaneWidths(left, right)


class PaneController(Controller):
    """The Deck's columns.

    Args:
        deck: whose columns they are.
        kept: where the widths are stored.
    """

    def __init__(self, deck: "BaseDeck", kept: Keeps) -> None:
        self._deck = deck
        self._kept = kept
        self.column = "left"
        """The column that has the focus."""

    @property
    def full(self) -> str:
        """Return the column that has the whole width; empty if none does."""
        chosen = self._kept.ui.full_pane
        return "" if chosen == NONE else chosen

    def _widths(self) -> PaneWidths:
        size, ui = self._deck.app.size, self._kept.ui
        return widths(size.width, size.height, ui.left_columns, ui.right_columns)

    def apply(self) -> None:
        """Lay the columns out as chosen."""
        deck = self._deck
        deck.set_class(bool(self.full), "-full")
        alone = deck.app.size.width < NORMAL or self.full
        fitting = self._widths()
        for column, columns in (("#left", fitting.left), ("#right", fitting.right)):
            styles = deck.query_one(column).styles
            if alone:
                styles.clear_rule("width")
            else:
                styles.width = columns

    # --- keys ----------

    def can(self, action_id: str) -> bool:
        if action_id in {"view.next_pane", "view.previous_pane"}:
            return True
        width = self._deck.app.size.width
        if action_id == "view.full":
            return width >= NORMAL
        return width >= NORMAL and not self.full

    def word(self, action: Action) -> str:
        return "all panes" if action.id == "view.full" and self.full else ""

    def do_view_left_wider(self) -> None:
        """Move the border between the sessions and the transcript to the right."""
        self.set_left(self._widths().left + STEP)

    def do_view_left_narrower(self) -> None:
        """Move the border between the sessions and the transcript to the left."""
        self.set_left(self._widths().left - STEP)

    def do_view_right_wider(self) -> None:
        """Move the border between the transcript and the phone to the left."""
        self.set_right(self._widths().right + STEP)

    def do_view_right_narrower(self) -> None:
        """Move the border between the transcript and the phone to the right."""
        self.set_right(self._widths().right - STEP)

    def do_view_even(self) -> None:
        """Reset the panes to automatic widths."""
        self._kept.keep(left_columns=0, right_columns=0)
        self.apply()

    def do_view_full(self) -> None:
        """Zoom the pane with the focus to the whole width, or show all again."""
        self._kept.keep(full_pane=NONE if self.full else self.column)
        self.apply()
        self._deck.refresh_all()

    # --- where the operator is ----------

    def _stops(self) -> list[tuple[str, Widget]]:
        """List the tab stops, with the column of each."""
        deck = self._deck
        stops: list[tuple[str, Widget]] = [("left", deck.sessions)]
        if deck.attention.rows:
            stops.append(("left", deck.attention))
        stops.append(("middle", deck.pane.transcript))
        if deck.card.question is not None:
            stops.append(("middle", deck.card))
        if not deck.composer.field.disabled:
            stops.append(("middle", deck.composer.field))
        is_close = deck.has_class("-close")
        alone = deck.has_class("-full") or not deck.has_class("-wide")
        if is_close or (alone and not deck.has_class("-short")):
            stops.append(("right", deck.phone.hands))
        return stops

    @property
    def short_of_phone(self) -> bool:
        """Return whether the phone's column is shown but too short for the phone."""
        return self._is_too_short and self.column == "right"

    @property
    def _is_too_short(self) -> bool:
        return self._deck.has_class("-short") and not self._deck.has_class("-close")

    def do_view_next_pane(self) -> None:
        self._go_by(1)

    def do_view_previous_pane(self) -> None:
        self._go_by(-1)

    def _go_by(self, by: int) -> None:
        stops, focused = self._stops(), self._deck.focused
        widgets = [widget for _, widget in stops]
        at = widgets.index(focused) if focused in widgets else -1 if by > 0 else 0
        column, widget = stops[(at + by) % len(stops)]
        self.go_to(column, widget)

    def go_to(self, column: str, widget: Widget) -> None:
        if column != self.column:
            self.go_to_column(column)
        self._deck.focus_now(widget)

    def go_to_column(self, column: str) -> None:
        self.column = column
        if self.full and self.full != column:
            # The column that the operator goes to is the one that is seen.
            self._kept.keep(full_pane=column)
        self._deck.update_classes({f"-at-{name}": name == column for name in _COLUMNS})
        self.show_tabs(sum(one.needs_person for one in self._deck.attention.waiting.values()))

    def press(self, column: str) -> None:
        """Go to the column of a pressed tab."""
        first = {"left": self._deck.sessions, "middle": self._deck.pane.transcript}
        self.go_to(column, first.get(column, self._deck.phone.hands))

    def show_tabs(self, waiting: int) -> None:
        """Show the columns' tabs, and the number of waiting items if there is no header."""
        parts: list[tuple[str, str]] = [(" ", "")]
        pressable: dict[int, str] = {}
        for column, name in _COLUMNS.items():
            here = column == self.column
            if column == "right" and self._is_too_short and not here:
                continue
            pressable[len(parts)] = column
            parts.append((f" {name} ", "bold $foreground on $cursor" if here else "$muted"))
            parts.append((" ", ""))
        parts.append(("tab switches", "$faint"))
        has_ended = self._deck.console_app.bridge.has_ended
        if waiting and not has_ended and self._deck.has_class("-short"):
            if any(one.question for one in self._deck.attention.waiting.values()):
                pressable[len(parts)] = NEXT_QUESTION
            parts.append((f"   ? {waiting} waiting", "bold $ask"))
        self._deck.query_one("#tabs", ActionLine).show_pressable(tuple(parts), pressable)

    def on_resize(self, event: Resize) -> None:
        self.apply()
        is_close = self._deck.has_class("-close")
        if event.size.height < 24 and self.column == "right" and not is_close:
            self.go_to_column("middle")

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        for column, widget in self._stops():
            if widget is event.widget and column != self.column:
                self.go_to_column(column)

    # --- splitters ----------

    def on_splitter_dragged(self, event: Splitter.Dragged) -> None:
        if event.splitter.id == "left-splitter":
            self.set_left(event.column)
        else:
            self.set_right(self._deck.size.width - event.column - 1)

    def set_left(self, columns: int) -> None:
        """Set the left column's width, as far as there is room."""
        self._kept.keep(left_columns=max(LEAST_LEFT, columns))
        self._kept.keep(left_columns=self._widths().left)
        self.apply()

    def set_right(self, columns: int) -> None:
        """Set the right column's width, as far as there is room."""
        self._kept.keep(right_columns=max(LEAST_RIGHT, columns))
        self._kept.keep(right_columns=self._widths().right)
        self.apply()
