"""What follows on the Deck: notices done with or gone on from, and hints changed or taken back.

A part of the Deck that sends ops. Invariants: a hint is changed only while no step has taken it
in; what was written for one session is never sent to another.
"""

from __future__ import annotations

from agent.protocol import NoticeSend, SteerEdit, SteerWithdraw
from agent.state.reducer import MessageItem
from console.screens.deck.deck_targets import DeckTargets
from widgets.questions.composer import Composer, Mode, Purpose


class DeckFollow(DeckTargets):
    """The Deck's follow-ups and hints."""

    _follows: Purpose | None = None
    """What the composer was turned to by a key of this part."""

    def can_follow(self, action_id: str) -> bool:
        """Return whether an action of this part can be done now."""
        view = self.deck.view()
        if view is None:
            return False
        match action_id:
            case "notice.send":
                return view.session.state.is_terminal
            case _:
                return self._waiting_hint() is not None

    def do_notice_send(self) -> None:
        """Write what is to be done now, from what the session came to."""
        view = self.deck.view()
        if view is None:
            self.console_app.say("No ended session here to start from.")
            return
        if not view.session.state.is_terminal:
            self.console_app.say("It has not ended: press i to write to it.")
            return
        self._turn_to(Purpose(Mode.NEXT, view.session.session_id))

    def do_steer_edit(self) -> None:
        """Change a hint that waits."""
        hint = self._waiting_hint()
        if hint is None:
            self.console_app.say("No hint waits for a step here.")
            return
        self._turn_to(Purpose(Mode.EDIT, f"{self.deck.selected}/{hint.message_id}"))
        field = self.deck.composer.field
        if not field.text:
            field.text = hint.text
            field.move_cursor(field.document.end)

    def do_steer_withdraw(self) -> None:
        """Take a hint back that waits."""
        hint = self._waiting_hint()
        if hint is None:
            self.console_app.say("No hint waits for a step here.")
            return
        self.console_app.request(
            SteerWithdraw(session_id=self.deck.selected, message_id=hint.message_id)
        )

    def _waiting_hint(self) -> MessageItem | None:
        """Return the hint under the transcript's cursor, else the newest that waits."""
        view = self.deck.view()
        if view is None:
            return None
        pane = self.deck.pane.transcript
        under = pane.item_under_cursor() if self.deck.focused is pane else None
        if isinstance(under, MessageItem) and _waits(under):
            return under
        hints = (item for item in reversed(view.transcript.items) if isinstance(item, MessageItem))
        return next((item for item in hints if _waits(item)), None)

    # --- the composer ----------

    def _turn_to(self, purpose: Purpose) -> None:
        self._follows = purpose
        self.refresh_all()
        self.deck.go_to("middle", self.deck.composer.field)

    def aim_follow(self) -> bool:
        """Turn the composer to what this part asked for; False when it asked for nothing."""
        if self.aim_note():
            return True
        if self._follows is None:
            return False
        if not self._follows.subject.startswith(self.deck.selected):
            # Another session was chosen: what was written stays with the old one.
            self._follows = None
            return False
        self.deck.composer.aim(self._follows)
        return True

    def leave_follow(self) -> bool:
        """Go one layer back from what this part asked for; False when it asked for nothing."""
        if self.notes_back:
            self.hand_back("")
        elif self._follows is not None:
            self._follows = None
            self.refresh_all()
            self.deck.go_to("middle", self.deck.pane.transcript)
        else:
            return False
        return True

    def send_follow(self, event: Composer.Sent) -> None:
        """Send what was written for this part."""
        mode, subject = event.purpose
        self._follows = None
        if mode is Mode.NOTE:
            self.hand_back(event.text)
        elif mode is Mode.NEXT:
            self.console_app.spawn(self._go_on(subject, event.text), "going on")
        elif mode is Mode.EDIT:
            self.console_app.spawn(self._change(subject, event.text), "changing a hint")

    async def _change(self, subject: str, text: str) -> None:
        session_id, _, message_id = subject.partition("/")
        op = SteerEdit(session_id=session_id, message_id=message_id, text=text)
        field = self.deck.composer.field
        if await self.console_app.ask(op) is None and self.deck.selected == session_id:
            # A step was quicker. What was written is not lost: it waits to be sent as a new hint.
            self.refresh_all()
            if not field.disabled and not field.text:
                field.text = text
                field.move_cursor(field.document.end)
                self.deck.go_to("middle", field)

    async def _go_on(self, session_id: str, text: str) -> None:
        reply = await self.console_app.ask(NoticeSend(session_id=session_id, text=text))
        if reply is None:
            # What was written is not lost: it waits in the composer.
            self._turn_to(Purpose(Mode.NEXT, session_id))
            self.deck.composer.field.text = text
        elif reply.session_id:
            self.deck.coming = reply.session_id
            self.deck.select(reply.session_id)
            self.refresh_all()


def _waits(said: MessageItem) -> bool:
    return said.steer and not said.applied_step and not said.withdrawn
