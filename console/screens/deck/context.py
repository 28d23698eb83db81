"""Define what the Deck's controllers depend on: the selection, navigation, the console.

The Deck implements it; a test supplies a `State` and a recorder of ops, without an app.
"""

from typing import Protocol

from agent.records import Question
from agent.state.reducer import Attention, Item, SessionView, State
from console.screens.op_sender import OpSender
from widgets.questions.composer import Purpose


class DeckOps(OpSender, Protocol):
    """Where the Deck's controllers send ops, and the console's other services."""

    seen: frozenset[str]  # What was looked at on this console: the keys of failures and of ends.

    def show_reminder(self, one: Attention) -> None:
        """Open the Jobs screen at an attention item."""


class DeckContext(Protocol):
    """The Deck, as a controller sees it."""

    @property
    def ops(self) -> DeckOps:
        """Return where ops are sent."""

    @property
    def selected(self) -> str:
        """Return the id of the selected session; empty if there is none."""

    @property
    def state(self) -> State:
        """Return the core's view state."""

    def select(self, session_id: str) -> None:
        """Select another session."""

    def view(self) -> SessionView | None:
        """Return the selected session."""

    def open_questions(self) -> list[Question]:
        """List the open questions of the selected session, oldest first."""

    def pointed_item(self) -> Item | None:
        """Return the item under the transcript's cursor, while the transcript has the focus."""

    @property
    def shown_question(self) -> Question | None:
        """Return the card's question; None if it has none."""

    @property
    def is_card_ready(self) -> bool:
        """Return whether the card has been visible for long enough to be answered."""

    @property
    def pointed_waiting(self) -> Attention | None:
        """Return the item under the attention queue's cursor."""

    def look_at_new(self, session_id: str) -> None:
        """Select a session without events yet."""

    def key_of(self, action_id: str) -> str:
        """Return the operator's key for an action."""

    def refresh_all(self) -> None:
        """Refresh everything from the view state."""

    def show_footer(self) -> None:
        """Refresh the footer."""

    # --- places ----------

    @property
    def is_at_card(self) -> bool:
        """Return whether the card has the focus."""

    @property
    def is_in_queue(self) -> bool:
        """Return whether the attention queue has the focus."""

    @property
    def notes_back(self) -> bool:
        """Return whether the composer asks for the note of handing the phone back."""

    def leave_note(self) -> bool:
        """Hand the phone back without a note; False if none is asked for."""

    def go_to_card(self) -> None:
        """Go to the open question."""

    def go_to_composer(self) -> None:
        """Go to the composer."""

    def go_to_transcript(self) -> None:
        """Go to the transcript."""

    def write(self, text: str, *, over: bool = False) -> bool:
        """Put a text into the composer, the cursor at its end.

        False if the composer takes none, or has text already and `over` is not set.
        """

    def give_back(self, purpose: Purpose, text: str, choice: str = "") -> bool:
        """Return a text to its field, with the phone that was chosen for it.

        True if the operator is typing something else.
        """

    def returned(self, purpose: Purpose, text: str, why: str) -> None:
        """Show a text that can no longer be delivered in its field, and why."""

    def answer_later(self) -> None:
        """Close the prompt for a rejection's reason."""
