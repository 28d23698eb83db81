"""The wheel on the Deck: which phone it is of, and where hands and notes go.

A part of the Deck; what driving is stands in `console.screens.device.wheel`.
"""

from __future__ import annotations

from console.screens.deck.deck_phone import DeckPhone
from console.screens.device.wheel import WheelScreen
from widgets.pictures.phone_pane import PhonePane, ScreenText
from widgets.questions.composer import Composer


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
        """Return whether the selected session waits for the wheel."""
        view = self.deck.view()
        return bool(view and view.session.turn_id and not view.session.state.is_terminal)

    def go_to_phone(self) -> None:
        """Go to the right column."""
        self.deck.go_to("right", self.deck.phone.hands)

    def go_to_note(self) -> None:
        """Go to the composer."""
        self.deck.go_to("middle", self.deck.composer.field)

    def leave_phone(self) -> None:
        """Go to the transcript."""
        self.deck.go_to("middle", self.deck.pane.transcript)

    # --- looking closely ----------

    def stored_text(self) -> ScreenText | None:
        """Return the text of the step that is open, or of the last look where there is no more."""
        past = self.past_step()
        if past is not None:
            seen = self.seen_at(past)
            about = f"of step {past.number}"
            return ScreenText(seen.elements if seen else (), about, "Nothing of it was stored.")
        view, step = self.deck.view(), self.stored_step()
        seen = view.transcript.observation if view is not None and step else None
        if seen is None:
            return None
        return ScreenText(seen.elements, f"of step {step}", "Nothing of it was stored.")

    def view_changed(self) -> None:
        """Make room for the phone where the terminal is too short for its whole picture."""
        phone = self.deck.phone
        self.set_class(phone.wants_text or phone.zoom.factor > 1, "-close")
        if self.deck.short_of_phone:
            self.leave_phone()

    def do_phone_text(self) -> None:
        """Show the phone's screen as text, or as a picture."""
        self.toggle_text()

    def do_phone_closer(self) -> None:
        """Show the picture closer."""
        self.zoom_closer()

    def do_phone_farther(self) -> None:
        """Show the picture from farther away."""
        self.zoom_farther()
