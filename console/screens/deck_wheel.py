"""The wheel on the Deck: which phone it is of, and where hands and notes go.

A part of the Deck; what driving is stands in `console.screens.wheel`.
"""

from __future__ import annotations

from console.screens.deck_phone import DeckPhone
from console.screens.wheel import WheelScreen
from widgets.composer import Composer
from widgets.phone_pane import PhonePane


class DeckWheel(DeckPhone, WheelScreen):
    """The Deck's wheel."""

    @property
    def phone(self) -> PhonePane:
        """The picture."""
        return self.query_one(PhonePane)

    @property
    def note_field(self) -> Composer:
        """Where the note of handing back is written."""
        return self.deck.composer

    def has_waiting_session(self) -> bool:
        """Say whether the selected session waits for the wheel."""
        view = self.deck.view()
        return bool(view and view.session.turn_id and not view.session.state.is_terminal)

    def go_to_phone(self) -> None:
        """Go to the right column."""
        self.deck.go_to("right", self.deck.phone)

    def go_to_note(self) -> None:
        """Go to the composer."""
        self.deck.go_to("middle", self.deck.composer.field)

    def leave_phone(self) -> None:
        """Go to the transcript."""
        self.deck.go_to("middle", self.deck.pane.transcript)
