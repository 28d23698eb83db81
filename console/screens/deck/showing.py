"""Control the Deck's middle column: the selected session, its transcript, its question.

Invariant: a failure counts as read once it was on screen for a moment, not before.
"""

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

from agent.records import Question
from agent.state.reducer import SessionView, State, children_of, failure_key, tree
from console.keys.controllers import Controller
from console.screens.base.keeping import keep_pictures
from console.screens.deck.composing import ComposerController
from console.screens.deck.dismissing import end_key
from console.screens.deck.shown_phone import PhoneController
from widgets.base import status
from widgets.lists.session_rows import delegating, phone_asked_about, session_title
from widgets.questions.question_card import void_note
from widgets.transcript.transcript_lines import as_text
from widgets.transcript.transcript_view import TranscriptView

if TYPE_CHECKING:
    from console.screens.deck.places import BaseDeck

READ_S = 3.0  # How long a failed session is looked at until its failure counts as read.


class SessionPaneController(Controller):
    """The middle column of the Deck.

    Args:
        deck: whose column it is.
        composing: is aimed at the visible session.
        shown_phone: shows its marks.
    """

    def __init__(
        self, deck: "BaseDeck", composing: ComposerController, shown_phone: PhoneController
    ) -> None:
        self._deck = deck
        self._composing = composing
        self._shown_phone = shown_phone
        self.clock_s: Callable[[], float] = monotonic
        self._looked = ("", 0.0)
        self._known_s: dict[str, float] = {}
        """Since when each open question is told of here, by the card's clock."""

    # --- which ----------

    def choose(self, state: State) -> None:
        """Select a session if none is selected, or the selected one is gone."""
        places = self._deck.places
        if places.coming in state.sessions:
            places.coming = ""
        if state.event_id and places.coming == self._deck.console_app.focus_session:
            # It was asked for by name at the start, and there is no such session.
            places.coming = ""
        if places.selected in state.sessions or (places.coming == places.selected != ""):
            return
        places.select(best_session(state))

    def look_at_failure(self) -> None:
        """Mark an end as read once its session was on screen for a moment."""
        view, app = self._deck.view(), self._deck.console_app
        ended = view is not None and view.session.state.is_terminal
        key = end_key(view.session) if view is not None and ended else ""
        now_s = self.clock_s()
        if key != self._looked[0] or not app.app_focus:
            self._looked = (key, now_s)
        elif key and now_s - self._looked[1] >= READ_S:
            failure = failure_key(view.session) if view is not None else ""
            app.seen |= {key, failure} - {""}

    # --- showing ----------

    def show(self, state: State, now_ms: int) -> None:
        """Show the transcript and the open question of the selected session."""
        deck, app = self._deck, self._deck.console_app
        view, asked = deck.view(), deck.answering.open_questions()
        app.bridge.look_at(deck.selected)
        deck.pane.show_view(
            view,
            devices=state.devices,
            others=state.sessions,
            now_ms=now_ms,
            asks=bool(asked),
            delegates=deck.selected in delegating(state),
            saying=app.bridge.said_now(deck.selected),
            parts=children(state, deck.selected),
        )
        self._show_card(state, now_ms, view, asked)
        self._composing.aim(view, asked)
        self._shown_phone.show_marks(view)
        if view is not None and view.is_behind:
            app.spawn(app.bridge.read_history(deck.selected), "reading the transcript")

    def _show_card(
        self, state: State, now_ms: int, view: SessionView | None, asked: list[Question]
    ) -> None:
        deck, card = self._deck, self._deck.card
        now_s = card.clock_s()
        self._known_s = {one: self._known_s.get(one, now_s) for one in state.questions}
        first = asked[0] if asked else None
        had_focus, before = deck.focused is card, card.question
        card.show_question(
            first,
            now_ms=now_ms,
            others=max(0, len(asked) - 1),
            note=void_note(first, view.transcript.items) if first and view else "",
            given=deck.answering.given_for(first) if first else (),
            known_s=self._known_s[first.question_id] if first else None,
            phone=phone_asked_about(first, state.devices),
        )
        same = first is not None and before is not None and first.question_id == before.question_id
        if had_focus and before is not None and not same:
            # The card goes, or asks something else: what is typed next was not meant for that.
            deck.set_focus(deck.pane.transcript)

    def on_transcript_view_new_items(self, _event: TranscriptView.NewItems) -> None:
        self._deck.show_footer()

    # --- keys ----------

    def can(self, action_id: str) -> bool:
        return action_id == "question.warrants" or self._deck.view() is not None

    def do_session_replay(self) -> None:
        """Open the session's replay from the store."""
        from console.screens.history.replay import ReplayScreen

        if self._deck.selected:
            self._deck.console_app.push_screen(ReplayScreen(self._deck.selected))

    def do_session_require(self) -> None:
        """Open the list of what the session's goal requires."""
        from console.screens.dialogs.requirements import RequirementsScreen

        if self._deck.selected:
            self._deck.console_app.push_screen(RequirementsScreen(self._deck.selected))

    def do_question_warrants(self) -> None:
        """Open what is allowed in words."""
        from console.screens.dialogs.warrants import WarrantsScreen

        self._deck.console_app.push_screen(WarrantsScreen())

    def do_session_keep(self) -> None:
        """Keep the pictures of the selected session's tree for ever, or return them to
        retention.
        """
        view, app = self._deck.view(), self._deck.console_app
        if view is not None:
            root = app.bridge.state.sessions.get(view.session.parent_id, view)
            keep_pictures(app, root.session)

    def do_session_copy(self) -> None:
        """Copy the item under the cursor."""
        view, deck = self._deck.view(), self._deck
        if view is None:
            return
        session = view.session
        if deck.focused is deck.pane.transcript:
            item = deck.pane.transcript.item_under_cursor()
            text = as_text(item, indented=False) if item is not None else session.goal
        elif deck.places.is_at_card and deck.card.question is not None:
            text = deck.card.question.shown
        else:
            text = f"{session.session_id}  {session.goal}"
        deck.console_app.copy(text)


def best_session(state: State) -> str:
    """Return the session to select by default: one that asks, then a running one, then the
    newest.
    """
    for question in state.questions.values():
        if question.session_id in state.sessions:
            return question.session_id
    listed = [view.session for _, view in tree(state)]
    for session in listed:
        if session.turn_id and session.serial:
            return session.session_id
    return listed[0].session_id if listed else ""


def children(state: State, session_id: str) -> list[tuple[status.Mark, str]]:
    """List a session's children, each with mark and title, oldest first."""
    asking = {q.session_id for q in state.questions.values()}
    found = (view.session for view in children_of(state.sessions).get(session_id, ()))
    return [
        (status.of_session(one, asks=one.session_id in asking), session_title(one)) for one in found
    ]
