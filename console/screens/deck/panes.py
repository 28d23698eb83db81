"""How wide the Deck's columns are: by the screen's width, by the operator's hand, or one alone.

`PaneWidths` is pure; the controller applies it and keeps what was chosen over restarts. Invariant:
no column is narrower than what can be read, whatever was chosen on a wider screen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from console.keys.actions import Action
from console.keys.controllers import Controller
from console.settings.kept_settings import KeptSettings

if TYPE_CHECKING:
    from console.screens.deck.deck import DeckScreen

LEAST_LEFT, LEAST_MIDDLE, LEAST_RIGHT = 24, 36, 26
WIDE, NORMAL = 120, 80
"""Columns of the screen from which three, and two, columns stand beside each other."""
STEP = 4
NONE = "none"


class PaneWidths(NamedTuple):
    """The columns of the left and the right pane; the middle has the rest."""

    left: int
    right: int


def widths(width: int, height: int, left: int, right: int) -> PaneWidths:
    """Return the widths of the side columns.

    Args:
        width, height: of the screen, in cells.
        left, right: what the operator chose; 0 = by the screen.
    """
    if width < WIDE:
        most = max(LEAST_LEFT, width - LEAST_MIDDLE)
        own = 34 if width < 100 else 38
        return PaneWidths(
            min(max(left or own, LEAST_LEFT), most), min(max(right or 40, LEAST_RIGHT), most)
        )
    # The phone gets the width its height deserves, never more than a third.
    rows = max(10, height - 9)
    right = right or max(LEAST_RIGHT, min(round(rows * 0.9) + 4, width // 3))
    left = left or min(64, max(40, round(width * 0.34)))
    right = max(LEAST_RIGHT, min(right, width - LEAST_MIDDLE - LEAST_LEFT))
    left = max(LEAST_LEFT, min(left, width - LEAST_MIDDLE - right))
    return PaneWidths(left, right)


class PaneController(Controller):
    """The Deck's columns.

    Args:
        deck: whose columns they are.
        kept: where the widths are kept.
    """

    def __init__(self, deck: DeckScreen, kept: KeptSettings) -> None:
        self._deck = deck
        self._kept = kept

    @property
    def full(self) -> str:
        """The column that takes the whole width; empty when none does."""
        chosen = self._kept.ui.full_pane
        return "" if chosen == NONE else chosen

    def _widths(self) -> PaneWidths:
        size, ui = self._deck.app.size, self._kept.ui
        return widths(size.width, size.height, ui.left_columns, ui.right_columns)

    def apply(self) -> None:
        """Lay the columns out as they are chosen."""
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
        """Let the screen decide how wide the panes are."""
        self._kept.keep(left_columns=0, right_columns=0)
        self.apply()

    def do_view_full(self) -> None:
        """Zoom the pane with the focus to the whole width, or show all again."""
        self._kept.keep(full_pane=NONE if self.full else self._deck.column)
        self.apply()
        self._deck.refresh_all()

    def follow(self, column: str) -> None:
        """Let the column that the operator went to be the one that is seen."""
        if self.full and self.full != column:
            self._kept.keep(full_pane=column)

    # --- splitters ----------

    def set_left(self, columns: int) -> None:
        """Make the left column so wide, as far as there is room."""
        self._kept.keep(left_columns=max(LEAST_LEFT, columns))
        self._kept.keep(left_columns=self._widths().left)
        self.apply()

    def set_right(self, columns: int) -> None:
        """Make the right column so wide, as far as there is room."""
        self._kept.keep(right_columns=max(LEAST_RIGHT, columns))
        self._kept.keep(right_columns=self._widths().right)
        self.apply()
