"""Stop, pause, end and judge the selected session, and take back what it did.

Invariants: stopping and pausing act at once; ending, and resuming an ended session, take two
presses; a key after an unanswered act applies to the state that the act leads to.
"""

import time

from agent import protocol
from agent.records import GoalVerdict, Session, SessionState, UndoOffer
from agent.safety.redacting.notice import named_kinds
from agent.text import counted, one_line
from console.core.active_sessions import is_tree_under_way
from console.keys.actions import Action
from console.keys.controllers import Controller
from console.screens.deck.context import DeckContext
from console.screens.deck.session_start import BeginController
from widgets.base.formatting import quoted
from widgets.lists.session_rows import session_title

_UNDO = "session.undo"


class SessionController(Controller):
    """The acts on the selected session.

    Args:
        deck: where it is selected.
        beginning: knows sessions that were created here but not reported yet.
    """

    def __init__(self, deck: DeckContext, beginning: BeginController) -> None:
        self._deck = deck
        self._beginning = beginning

    def _session(self) -> Session | None:
        view = self._deck.view()
        return view.session if view else None

    def _is_at_work(self, session: Session) -> bool:
        begins = self._deck.ops.pending.begins_work(session.session_id)
        return begins or is_tree_under_way(session, self._deck.state)

    def _asked_to_pause(self, session: Session) -> bool | None:
        """Return whether an op in flight will pause it; None if there is none."""
        return self._deck.ops.pending.pauses(session.session_id, session.serial)

    def can(self, action_id: str) -> bool:
        session = self._session()
        if self._beginning.awaits(action_id):
            # What was begun is not there yet: its own sentence says what the key does.
            return True
        if session is None:
            return False
        match action_id:
            case "session.stop":
                return self._is_at_work(session)
            case "session.cancel":
                return not session.state.is_terminal
            case "session.confirm" | "session.wrong":
                return session.state is SessionState.COMPLETED
            case "session.let_through":
                return bool(session.redacted) and session.state is not SessionState.CREATED
            case _:
                return True

    def word(self, action: Action) -> str:
        """Return what the pause key does to the session in its current state."""
        session = self._session()
        if action.id != "session.pause" or session is None:
            return ""
        asked = self._asked_to_pause(session)
        if asked is not None:
            return "resume" if asked else "pause"
        if session.state is SessionState.CREATED:
            return "start"
        if session.state.is_terminal:
            return "resume"
        return "resume" if session.paused or not self._is_at_work(session) else "pause"

    def _confirm(self, action_id: str, session: Session, what: str) -> bool:
        """Return True at the second press; the first shows what the key does."""
        sentence = f"{self._deck.key_of(action_id)} again {what}"
        return self._deck.ops.two_presses.confirm(action_id, session.session_id, sentence)

    # --- the safe direction is one key ----------

    def do_session_stop(self) -> None:
        """Interrupt the selected session and its children."""
        session = self._session()
        if self._beginning.is_awaited:
            self._beginning.stop_awaited()
        elif session is not None and self._is_at_work(session):
            self._deck.ops.request(protocol.Interrupt(session_id=session.session_id))

    def do_session_pause(self) -> None:
        """Pause the session, or resume it."""
        session = self._session()
        if self._beginning.comes_too_early() or session is None:
            return
        one, ops = session.session_id, self._deck.ops
        is_paused = self._asked_to_pause(session)
        if is_paused is not None:
            # It was asked for and not answered yet: this asks for the opposite.
            ops.request(
                protocol.SessionResume(session_id=one)
                if is_paused
                else protocol.SessionPause(session_id=one)
            )
        elif session.state is SessionState.CREATED:
            ops.request(protocol.SessionStart(session_id=one))
        elif session.state.is_terminal:
            ended = session.state.value.lower()
            about = f"{quoted(session_title(session), 40)}, which has {ended}"
            if self._confirm("session.pause", session, f"resumes {about}"):
                ops.request(protocol.SessionResume(session_id=one))
        elif session.paused or not self._is_at_work(session):
            ops.request(protocol.SessionResume(session_id=one))
        else:
            ops.request(protocol.SessionPause(session_id=one))

    def do_session_cancel(self) -> None:
        """End the session and its children, at the second press."""
        session = self._session()
        if self._beginning.comes_too_early() or session is None or session.state.is_terminal:
            return
        one = session.session_id
        below = sum(view.session.parent_id == one for view in self._deck.state.sessions.values())
        children = f" and its {below} children" if below > 1 else " and its child" if below else ""
        what = f"ends {quoted(session_title(session), 40)}{children}"
        if self._confirm("session.cancel", session, what):
            self._deck.ops.request(protocol.SessionCancel(session_id=one))

    def do_session_let_through(self) -> None:
        """Send redacted texts again, unredacted, at the second press."""
        session = self._session()
        if session is None or not self.can("session.let_through"):
            return
        what = (
            f"lets {named_kinds(session.redacted)} through: it is stored and sent to the model, "
            "and the session resumes"
        )
        if self._confirm("session.let_through", session, what):
            self._deck.ops.request(protocol.SessionLetThrough(session_id=session.session_id))

    # --- judging a result ----------

    def do_session_confirm(self) -> None:
        """Record that the goal of the selected session is met."""
        self._judge(GoalVerdict.MET)

    def do_session_wrong(self) -> None:
        """Record that the goal of the selected session is not met."""
        self._judge(GoalVerdict.NOT_MET)

    def _judge(self, verdict: GoalVerdict) -> None:
        session = self._session()
        if session is not None and session.state is SessionState.COMPLETED:
            op = protocol.SessionVerify(session_id=session.session_id, verdict=verdict)
            self._deck.ops.request(op)


class UndoController(Controller):
    """Take back on the phone what the selected session did: the first press says what.

    Invariant: the second press does exactly what the sentence named, and approves it where the
    sentence asked.

    Args:
        deck: where the session is selected.
    """

    def __init__(self, deck: DeckContext) -> None:
        self._deck = deck
        self._named: tuple[str, UndoOffer, str] | None = None
        """The session, the offer, and the sentence by which it was named."""

    def _session(self) -> Session | None:
        view = self._deck.view()
        return view.session if view else None

    def can(self, action_id: str) -> bool:
        session = self._session()
        return session is not None and bool(session.serial)

    def do_session_undo(self) -> None:
        """Name what can be taken back, or take back what was named."""
        session = self._session()
        if session is None:
            return
        named, presses = self._named, self._deck.ops.two_presses
        if named is not None and named[0] == session.session_id and presses.sentence == named[2]:
            presses.disarm()
            self._named = None
            offer = named[1]
            op = protocol.UndoEffect(
                session_id=session.session_id, step=offer.step, approved=bool(offer.asks)
            )
            self._deck.ops.request(op)
            return
        self._deck.ops.spawn(self._name_newest(session.session_id), _UNDO)

    async def _name_newest(self, session_id: str) -> None:
        offers = await self._deck.ops.core.look_up(protocol.ListUndoOffers(session_id=session_id))
        if not offers:
            self._deck.ops.say("Nothing that it did can be taken back from the newest screen.")
            return
        offer = offers[0]
        sentence = f"{self._deck.key_of(_UNDO)} again: {offer_words(offer, time.time() * 1000)}"
        self._named = session_id, offer, sentence
        self._deck.ops.two_presses.disarm()
        self._deck.ops.two_presses.confirm(_UNDO, session_id, sentence)
        self._deck.show_footer()


def offer_words(offer: UndoOffer, now_ms: float) -> str:
    """Return an offer in a line, with the seconds that are left of it where they are known."""
    left_s = max(0, round((offer.until_ms - now_ms) / 1000))
    left = f" ({counted(left_s, 'second')} left at most)" if offer.until_ms else ""
    asks = f" You approve: {one_line(offer.asks, 120)}" if offer.asks else ""
    return f"take back step {offer.step}: {one_line(offer.what, 80)}. {offer.says}{left}{asks}"
