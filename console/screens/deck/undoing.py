"""Take back on the phone what the selected session did: the first press says what, the second does.

What can be taken back is the core's answer. Invariant: the second press does exactly what the
sentence named, and approves it where the sentence asked.
"""

import time

from agent import protocol
from agent.records import Session, UndoOffer
from agent.text import counted, one_line
from console.keys.controllers import Controller
from console.screens.deck.context import DeckContext

_UNDO = "session.undo"


class UndoController(Controller):
    """The key that takes an effect back.

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
        offers = await self._deck.ops.look_up(protocol.ListUndoOffers(session_id=session_id))
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
