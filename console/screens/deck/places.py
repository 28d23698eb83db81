"""Implement `DeckContext` over the Deck's widgets: the selection and navigation."""

from typing import Protocol

from textual.widget import Widget

from agent.records import Question
from agent.state.memoize import memoize_last
from agent.state.reducer import Attention, Item, SessionView, State
from console.base_app import ConsoleApp
from console.input.delivery import Address
from console.screens.deck.answering import QuestionController
from console.screens.deck.approving import ApprovalController
from console.screens.deck.context import DeckContext
from console.screens.deck.following import FollowController
from console.screens.deck.session_start import BeginController
from console.screens.deck.targets import TargetController
from console.screens.device.phone_screen import PhoneScreen
from console.screens.device.wheel import WheelController
from widgets.attention.attention_list import AttentionList
from widgets.base.row_list import RowList
from widgets.base.rows import Row
from widgets.questions.composer import Composer, Purpose
from widgets.questions.question_card import QuestionCard
from widgets.transcript.session_pane import SessionPane


class Panes(Protocol):
    """The Deck's columns."""

    @property
    def short_of_phone(self) -> bool:
        """Return whether the phone's column is shown but too short for the phone."""

    def go_to(self, column: str, widget: Widget) -> None:
        """Show a column and focus a widget in it."""


class Composing(Protocol):
    """What the Deck's composer is for."""

    def open(self) -> None:
        """Aim the field at what is meant now; entered, it holds that."""

    def returned(self, address: Address, text: str, why: str, *, is_final: bool = False) -> None:
        """Show a refused text in its field again."""

    def close_undeliverable(self) -> bool:
        """Close a text that came back or cannot be delivered; False if none is shown."""


class BaseDeck(PhoneScreen):
    """The Deck's widgets, its selection, and the controllers that others use."""

    places: "DeckPlaces"
    panes: Panes
    wheel: WheelController
    following: FollowController
    beginning: BeginController
    answering: QuestionController
    approving: ApprovalController
    targets: TargetController
    composing: Composing

    # --- what is on screen, by name ----------

    @property
    def sessions(self) -> RowList:
        return self.query_one("#sessions", RowList)

    @property
    def attention(self) -> AttentionList:
        return self.query_one(AttentionList)

    @property
    def pane(self) -> SessionPane:
        return self.query_one(SessionPane)

    @property
    def card(self) -> QuestionCard:
        """The open question of the selected session."""
        return self.query_one(QuestionCard)

    @property
    def composer(self) -> Composer:
        return self.query_one(Composer)

    # --- the selection ----------

    @property
    def selected(self) -> str:
        """Return the id of the selected session; empty if there is none."""
        return self.places.selected

    def select(self, session_id: str) -> None:
        self.places.select(session_id)

    def view(self) -> SessionView | None:
        return self.places.view()

    def listed_ids(self) -> tuple[str, ...]:
        """Return the ids of the listed sessions, in order."""
        return _keys_of(self.sessions.rows)


class DeckPlaces(DeckContext):
    """Implements `DeckContext` over the Deck's widgets.

    Args:
        deck: the screen.
    """

    def __init__(self, deck: BaseDeck) -> None:
        self._deck = deck
        self._selected = ""
        self.coming = ""
        """The session that was chosen before its first event came."""

    @property
    def ops(self) -> ConsoleApp:
        return self._deck.console_app

    @property
    def state(self) -> State:
        return self._deck.console_app.bridge.state

    @property
    def selected(self) -> str:
        return self._selected

    def select(self, session_id: str) -> None:
        self._selected = session_id

    def look_at_new(self, session_id: str) -> None:
        self.coming = self._selected = session_id

    def view(self) -> SessionView | None:
        return self.state.sessions.get(self._selected)

    def open_questions(self) -> list[Question]:
        return self._deck.answering.open_questions()

    @property
    def shown_question(self) -> Question | None:
        return self._deck.card.question

    @property
    def is_card_ready(self) -> bool:
        return self._deck.card.is_ready

    @property
    def is_at_card(self) -> bool:
        return self._deck.focused is self._deck.card

    @property
    def pointed_waiting(self) -> Attention | None:
        return self._deck.attention.under_cursor

    @property
    def is_in_queue(self) -> bool:
        return self._deck.focused is self._deck.attention

    def pointed_item(self) -> Item | None:
        transcript = self._deck.pane.transcript
        return transcript.item_under_cursor() if self._deck.focused is transcript else None

    def key_of(self, action_id: str) -> str:
        return self._deck.key_of(action_id)

    def refresh_all(self) -> None:
        self._deck.refresh_all()

    def show_footer(self) -> None:
        self._deck.show_footer()

    # --- places ----------

    @property
    def notes_back(self) -> bool:
        return self._deck.wheel.asks_note

    def leave_note(self) -> bool:
        return self._deck.wheel.leave_note()

    def go_to_card(self) -> None:
        self._deck.panes.go_to("middle", self._deck.card)

    def go_to_composer(self) -> None:
        self._deck.composing.open()
        self._deck.panes.go_to("middle", self._deck.composer.field)

    def go_to_transcript(self) -> None:
        self._deck.panes.go_to("middle", self._deck.pane.transcript)

    def write(self, text: str, *, over: bool = False) -> bool:
        field = self._deck.composer.field
        if (field.disabled or field.text) and not over:
            return False
        field.text = text
        field.move_cursor(field.document.end)
        return True

    def give_back(self, purpose: Purpose, text: str, choice: str = "") -> bool:
        self._deck.composer.give_back(purpose, text, choice)
        return self._deck.focused is self._deck.composer.field

    def returned(self, purpose: Purpose, text: str, why: str) -> None:
        address = Address(purpose, self._selected)
        self._deck.composing.returned(address, text, why, is_final=True)

    def answer_later(self) -> None:
        self._deck.approving.ask_no_reason()


@memoize_last
def _keys_of(rows: tuple[Row, ...]) -> tuple[str, ...]:
    """Return the keys of selectable rows, in order."""
    return tuple(row.key for row in rows if not row.is_heading)
