"""What controllers of the Deck are given: the selected session, the places to go to, the console.

The Deck is one; a test gives another, with a `State` and a recorder of ops, and needs no app.
"""

from __future__ import annotations

from typing import Protocol

from agent.records import Question
from agent.state.reducer import Attention, Item, SessionView, State
from console.screens.op_sender import OpSender
from widgets.questions.composer import Purpose


class DeckOps(OpSender, Protocol):
    """Where the Deck's controllers send ops, and what the console knows beside the picture."""

    seen: frozenset[str]
    """What was looked at on this console: the keys of failures and of ends."""

    def show_reminder(self, one: Attention) -> None:
        """Show what waits where it is dealt with: on the Jobs screen."""


class DeckContext(Protocol):
    """The Deck, as a controller sees it."""

    @property
    def ops(self) -> DeckOps:
        """Where ops go."""

    @property
    def selected(self) -> str:
        """The id of the selected session; empty when none is."""

    @property
    def state(self) -> State:
        """The picture of the core."""

    def select(self, session_id: str) -> None:
        """Look at another session."""

    def view(self) -> SessionView | None:
        """Return the selected session."""

    def open_questions(self) -> list[Question]:
        """List the open questions of the selected session, oldest first."""

    def pointed_item(self) -> Item | None:
        """Return the item under the transcript's cursor, while the transcript has the focus."""

    @property
    def shown_question(self) -> Question | None:
        """What the card asks; None while it asks nothing."""

    @property
    def is_card_ready(self) -> bool:
        """Whether the card has been seen for long enough to be answered."""

    @property
    def pointed_waiting(self) -> Attention | None:
        """What is under the cursor of the queue of what waits."""

    def look_at_new(self, session_id: str) -> None:
        """Select a session of which no event came yet."""

    def key_of(self, action_id: str) -> str:
        """Name the key of an action, as the operator has it."""

    def refresh_all(self) -> None:
        """Show the picture again."""

    def show_footer(self) -> None:
        """Show again what the keys do."""

    # --- places ----------

    @property
    def is_at_card(self) -> bool:
        """Whether the card has the focus."""

    @property
    def is_in_queue(self) -> bool:
        """Whether the queue of what waits has the focus."""

    @property
    def notes_back(self) -> bool:
        """Whether the composer asks for the note of handing the phone back."""

    def leave_note(self) -> bool:
        """Hand the phone back without a note; False when none is asked for."""

    def go_to_card(self) -> None:
        """Go to the open question."""

    def go_to_composer(self) -> None:
        """Go to the composer."""

    def go_to_transcript(self) -> None:
        """Go to the transcript."""

    def write(self, text: str, *, over: bool = False) -> bool:
        """Put a text into the composer, its end under the cursor.

        False when the composer takes none, or holds one already and that is not written `over`.
        """

    def give_back(self, purpose: Purpose, text: str) -> bool:
        """Put a text back where it was written; True when the operator is writing something."""

    def answer_later(self) -> None:
        """Ask no longer for the reason of a rejection."""
