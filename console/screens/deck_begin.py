"""Begin a session on the Deck, or a draft of one for an app.

Not the composer itself, nor what is written to a session that is there. Invariants: a goal that the
core refused waits in the composer; a key between sending a goal and the coming of its session is
never taken for the session that was selected before.
"""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from agent.protocol import SessionCreate
from console.screens.deck_find import DeckFind
from widgets.composer import Composer

_NOT_YET = "The session that you began is not there yet: press the key again in a moment."


class DeckBegin(DeckFind):
    """The Deck's way to a new session."""

    begins = False
    drafts = False
    """Whether what is begun is a draft for one app."""
    _awaited_on: tuple[str, ...] = ()
    """What was selected when sessions were begun here that the core has not told of yet."""

    def do_session_new(self) -> None:
        """Write the goal of a new session."""
        self.begins, self.drafts = True, False
        self.rejects = None
        self.refresh_all()
        self.deck.go_to("middle", self.deck.composer.field)

    def on_composer_switched(self, _event: Composer.Switched) -> None:
        """Turn from a goal to a draft for one app, and back."""
        self.drafts = not self.drafts
        self.refresh_all()

    def begin(self, goal: str, serial: str) -> None:
        """Begin a session, and select it once it is there."""
        self._await(self._begin(goal, serial), "beginning a session")

    def draft(self, text: str, serial: str) -> None:
        """Keep a draft for one app, which ends with this console unless it is begun."""
        self._await(self._draft(text, serial), "keeping a draft")

    def is_awaited(self) -> bool:
        """Tell whether the session that was begun last takes the place of the selected one soon."""
        return self.deck.selected in self._awaited_on

    def _await(self, created: Coroutine[Any, Any, None], doing: str) -> None:
        on = self.deck.selected
        self._awaited_on += (on,)

        async def until_there() -> None:
            try:
                await created
            finally:
                left = list(self._awaited_on)
                left.remove(on)
                self._awaited_on = tuple(left)

        self.console_app.spawn(until_there(), doing)

    async def _begin(self, goal: str, serial: str) -> None:
        reply = await self.console_app.ask(SessionCreate(goal=goal, serial=serial))
        if reply is None:
            # The goal is not lost: it waits in the composer.
            self.begins = True
            self.refresh_all()
            self.deck.composer.field.text = goal
            return
        self.deck.coming = reply.session_id
        self.deck.select(reply.session_id)
        self.refresh_all()

    async def _draft(self, text: str, serial: str) -> None:
        package, _, goal = text.strip().partition(" ")
        op = SessionCreate(
            goal=goal.strip(), target_package=package, serial=serial, start=False, hold=True
        )
        reply = await self.console_app.ask(op)
        if reply is None:
            self.begins = self.drafts = True
            self.refresh_all()
            self.deck.composer.field.text = text
            return
        self.deck.coming = reply.session_id
        self.deck.select(reply.session_id)
        self.console_app.say("A draft. p begins it; it ends with this console unless it is begun.")
        self.refresh_all()

    def comes_too_early(self) -> bool:
        """Say that a key is for a session that is about to be selected, if one is."""
        if self.is_awaited():
            self.console_app.say(_NOT_YET)
        return self.is_awaited()
