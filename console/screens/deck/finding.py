"""Finding words in the transcript of the selected session.

Invariant: what was found stays in view, however much comes meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from console.keys.controllers import Controller

if TYPE_CHECKING:
    from console.screens.deck.deck import DeckScreen


class FindController(Controller):
    """The search inside a transcript.

    Args:
        deck: whose transcript it is.
    """

    def __init__(self, deck: DeckScreen) -> None:
        self._deck = deck

    def do_view_find(self) -> None:
        """Write words that the transcript is searched for."""
        self._deck.find_field.add_class("-shown")
        self._deck.go_to("middle", self._deck.find_field)

    def find_next(self) -> None:
        """Go to the next item that holds the words."""
        words = self._deck.find_field.value.strip()
        if words and not self._deck.pane.transcript.find_next(self._deck.find_field.value):
            self._deck.ops.say(f"Nothing here holds “{words[:60]}”.")

    def back(self) -> bool:
        """Close the field; False when it was not open."""
        field = self._deck.find_field
        if not field.has_class("-shown"):
            return False
        field.value = ""
        field.remove_class("-shown")
        self._deck.go_to_transcript()
        return True
