"""Search the transcript of the selected session.

Invariant: the match stays in view while new items arrive.
"""

from typing import TYPE_CHECKING

from textual.widgets import Input

from console.keys.controllers import Controller
from widgets.base.formatting import quoted

if TYPE_CHECKING:
    from console.screens.deck.places import BaseDeck


class FindController(Controller):
    """The search in a transcript.

    Args:
        deck: whose transcript it is.
    """

    def __init__(self, deck: "BaseDeck") -> None:
        self._deck = deck

    @property
    def field(self) -> Input:
        return self._deck.query_one("#find", Input)

    def do_view_find(self) -> None:
        """Open the search field."""
        self.field.add_class("-shown")
        self._deck.panes.go_to("middle", self.field)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the next match."""
        if event.input is not self.field:
            return
        words = self.field.value.strip()
        if words and not self._deck.pane.transcript.find_next(self.field.value):
            self._deck.console_app.say(f"Nothing here contains {quoted(words, 60)}.")

    def back(self) -> bool:
        """Close the field; False if it was not open."""
        field = self.field
        if not field.has_class("-shown"):
            return False
        field.value = ""
        field.remove_class("-shown")
        self._deck.places.go_to_transcript()
        return True
