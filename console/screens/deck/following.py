"""Control follow-ups on the Deck: finish or continue from notices, edit or withdraw hints.

Invariants: a hint is changed only before a step applies it; text for one session is never sent to
another.
"""

from agent.protocol import NoticeSend, SteerEdit, SteerWithdraw
from agent.state.reducer import MessageItem
from console.keys.controllers import Controller
from console.screens.deck.context import DeckContext
from widgets.base.rows import Parts
from widgets.questions.composer import Composer, Mode, Purpose


class FollowController(Controller):
    """Follow-ups and hints.

    Args:
        deck: whose sessions they are for.
    """

    def __init__(self, deck: DeckContext) -> None:
        self._deck = deck
        self._follows: Purpose | None = None
        """What the composer was turned to by a key of this part."""

    def can(self, action_id: str) -> bool:
        view = self._deck.view()
        if view is None:
            return False
        match action_id:
            case "notice.send":
                return view.session.state.is_terminal
            case _:
                return self._waiting_hint() is not None

    def do_notice_send(self) -> None:
        """Write the next goal, continuing from the session's result."""
        view = self._deck.view()
        if view is None:
            self._deck.ops.say("No ended session here to start from.")
            return
        if not view.session.state.is_terminal:
            self._deck.ops.say("It has not ended: press i to write to it.")
            return
        self._turn_to(Purpose(Mode.NEXT, view.session.session_id))

    def do_steer_edit(self) -> None:
        """Edit a pending hint."""
        hint = self._waiting_hint()
        if hint is None:
            self._deck.ops.say("No hint is waiting for a step here.")
            return
        self._turn_to(Purpose(Mode.EDIT, f"{self._deck.selected}/{hint.message_id}"))
        self._deck.write(hint.text)

    def do_steer_withdraw(self) -> None:
        """Withdraw a pending hint."""
        hint = self._waiting_hint()
        if hint is None:
            self._deck.ops.say("No hint is waiting for a step here.")
            return
        self._deck.ops.request(
            SteerWithdraw(session_id=self._deck.selected, message_id=hint.message_id)
        )

    def _waiting_hint(self) -> MessageItem | None:
        """Return the hint under the transcript's cursor, else the newest pending one."""
        view = self._deck.view()
        if view is None:
            return None
        under = self._deck.pointed_item()
        if isinstance(under, MessageItem) and _waits(under):
            return under
        hints = (item for item in reversed(view.transcript.items) if isinstance(item, MessageItem))
        return next((item for item in hints if _waits(item)), None)

    # --- the composer ----------

    def _turn_to(self, purpose: Purpose) -> None:
        self._follows = purpose
        self._deck.refresh_all()
        self._deck.go_to_composer()

    def purpose(self) -> tuple[Purpose, Parts] | None:
        if self._follows is None or self._deck.notes_back:
            return None
        if not self._follows.subject.startswith(self._deck.selected):
            # Another session was chosen: what was written stays with the old one.
            self._follows = None
            return None
        return self._follows, ()

    def back(self) -> bool:
        if self._deck.leave_note():
            return True
        if self._follows is None:
            return False
        self._follows = None
        self._deck.refresh_all()
        self._deck.go_to_transcript()
        return True

    def forget(self) -> None:
        """Close the composer's prompt."""
        self._follows = None

    def send(self, event: Composer.Sent) -> None:
        """Send the composer's text for this controller."""
        mode, subject = event.purpose
        self.forget()
        if mode is Mode.NEXT:
            self._deck.ops.spawn(self._go_on(subject, event.text), "going on")
        elif mode is Mode.EDIT:
            self._deck.ops.spawn(self._change(subject, event.text), "changing a hint")

    async def _change(self, subject: str, text: str) -> None:
        session_id, _, message_id = subject.partition("/")
        op = SteerEdit(session_id=session_id, message_id=message_id, text=text)
        if await self._deck.ops.ask(op) is None:
            # A step was quicker: what was written is no hint of its own.
            why = "The hint can no longer be changed."
            self._deck.returned(Purpose(Mode.EDIT, subject), text, why)

    async def _go_on(self, session_id: str, text: str) -> None:
        reply = await self._deck.ops.ask(NoticeSend(session_id=session_id, text=text))
        if reply is None:
            # What was written is not lost: it waits in the composer.
            self._turn_to(Purpose(Mode.NEXT, session_id))
            self._deck.write(text, over=True)
        elif reply.session_id:
            self._deck.look_at_new(reply.session_id)
            self._deck.refresh_all()


def _waits(said: MessageItem) -> bool:
    return said.steer and not said.applied_step and not said.withdrawn
