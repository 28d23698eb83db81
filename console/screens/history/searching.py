"""Control what the History searches for, and which of the found sessions are unfolded.

Invariant: a fact of a filter that is still being typed neither counts nor is complained about.
"""

from typing import TYPE_CHECKING

from textual.events import DescendantBlur, Key
from textual.widgets import Input

from console.keys.controllers import Controller
from console.screens.history.filters import whole_words
from widgets.lists.history_rows import hit_rows

if TYPE_CHECKING:
    from console.screens.history.context import BaseHistory


class SearchController(Controller):
    """The field over the list, and what was found.

    Args:
        screen: the History.
    """

    def __init__(self, screen: "BaseHistory") -> None:
        self._screen = screen
        self.wanted = ""
        """What the field holds."""
        self.unfolded: frozenset[str] = frozenset()
        """The sessions whose places are all listed."""

    def on_input_changed(self, event: Input.Changed) -> None:
        self.wanted = event.value.strip()
        is_typing = self._screen.focused is event.input and not event.value.endswith(" ")
        self._wish(whole_words(self.wanted) if is_typing else self.wanted)

    def on_input_submitted(self, _event: Input.Submitted) -> None:
        self._screen.focus_now(self._screen.table)

    def on_descendant_blur(self, event: DescendantBlur) -> None:
        if event.widget.id == "search" and self.wanted != self._screen.stored.wished:
            # What was left is whole.
            self._wish(self.wanted)

    def _wish(self, text: str) -> None:
        self.unfolded = frozenset()
        self._screen.stored.wish(text)
        self._screen.refresh_all()

    def on_key(self, event: Key) -> None:
        """Fold or unfold the session under the cursor."""
        table, stored = self._screen.table, self._screen.stored
        if self._screen.focused is not table or event.key not in {"left", "right"}:
            return
        session_id = table.cursor_key.partition("/")[0]
        if event.key == "right":
            self.unfolded |= {session_id}
        elif session_id in self.unfolded:
            self.unfolded -= {session_id}
            rows = hit_rows(stored.hits, stored.session_of, now_ms=0)
            best = next((r.key for r in rows if r.key.startswith(f"{session_id}/")), "")
            # From one of its places the cursor goes to what it is a place of.
            table.move_to(best)
        self._screen.refresh_all()
