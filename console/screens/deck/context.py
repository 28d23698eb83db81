"""What controllers of the Deck are given: the selected session, the places to go to, the console.

The Deck is one; a test gives another, with a `State` and a recorder of ops, and needs no app.
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any, Protocol

from agent.protocol import Op, Reply
from agent.records import Question
from agent.state.reducer import Item, SessionView, State
from console.input.gate import Wait
from console.input.pending import PendingOps
from console.keys.two_acts import TwoActs
from widgets.questions.composer import Purpose


class OpSender(Protocol):
    """Where ops are sent, and lines are said to the operator; the app is one."""

    @property
    def begins_with(self) -> str:
        """The model that a new session is begun with; empty: the one of the settings."""

    @property
    def tool_servers(self) -> Sequence[str]:
        """The names of the tool servers that a goal may name."""

    @property
    def pending(self) -> PendingOps:
        """What was asked for and not answered yet."""

    @property
    def two_acts(self) -> TwoActs:
        """What takes a second press."""

    def request(self, op: Op, *, done: str = "") -> None:
        """Send an op without waiting; what it fails with is said."""

    def ask(self, op: Op) -> Coroutine[Any, Any, Reply | None]:
        """Send an op and wait for its reply; None when it failed, which was said."""

    def say(self, text: str, *, tone: str = "information") -> None:
        """Say a line to the operator."""

    def spawn(self, work: Coroutine[Any, Any, Any], name: str, wait: Wait = Wait.ANSWER) -> None:
        """Do work beside the messages; `name` is what its failure is logged with."""


class DeckContext(Protocol):
    """The Deck, as a controller sees it."""

    @property
    def ops(self) -> OpSender:
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

    def look_at_new(self, session_id: str) -> None:
        """Select a session of which no event came yet."""

    def key_of(self, action_id: str) -> str:
        """Name the key of an action, as the operator has it."""

    def refresh_all(self) -> None:
        """Show the picture again."""

    # --- places ----------

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
