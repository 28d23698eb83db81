"""Finding words in the transcript of the selected session.

A part of the Deck. Invariant: what was found stays in view, however much comes meanwhile.
"""

from __future__ import annotations

from textual.widgets import Input

from console.screens.deck.deck_approvals import DeckApprovals


class DeckFind(DeckApprovals):
    """The Deck's search inside a transcript."""

    @property
    def find_field(self) -> Input:
        """Where the words are typed."""
        return self.query_one("#find", Input)

    def do_view_find(self) -> None:
        """Write words that the transcript is searched for."""
        self.find_field.add_class("-shown")
        self.deck.go_to("middle", self.find_field)

    def find_next(self) -> None:
        """Go to the next item that holds the words."""
        words = self.find_field.value
        if words.strip() and not self.deck.pane.transcript.find_next(words):
            self.console_app.say(f"Nothing here holds “{words.strip()[:60]}”.")

    def leave_find(self) -> bool:
        """Close the field; False when it was not open."""
        if not self.find_field.has_class("-shown"):
            return False
        self.find_field.value = ""
        self.find_field.remove_class("-shown")
        self.deck.go_to("middle", self.deck.pane.transcript)
        return True
