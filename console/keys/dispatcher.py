"""Find who does an action of the registry, and have it done.

Invariants: an action of a screen is done by the controller that owns it, else by the screen; one
that is had everywhere by what is shown, a dialog too, else by the console's own controllers; what
it fails with becomes a notice; what can do nothing now says why.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from inspect import isawaitable
from typing import Any, Protocol

from agent.errors import SwitchboardError
from console.input.gate import OPENS_S, Wait
from console.input.stray_words import StrayWords
from console.keys import actions
from console.keys.controllers import Controller, method_name
from console.keys.two_presses import TwoPresses
from console.keys.unavailable import NEED_PHONES, ONLY_LOOKS, STILL_OPENING, WHY_NOT

NEXT_QUESTION = "question.next"


class TopScreen(Protocol):
    """A screen of the console, as the dispatcher sees it."""

    def owner_of(self, action_id: str) -> Controller | None:
        """Return the controller that does an action now; None where the screen does it."""

    def can(self, action_id: str) -> bool:
        """Return whether an action can be done now."""

    def refresh_all(self) -> None:
        """Show the picture again."""

    def show_footer(self) -> None:
        """Show again what the keys do."""


class Opening(Protocol):
    """The picture of the core, before and after it is there."""

    @property
    def is_opening(self) -> bool:
        """Whether the core's first picture is still to come."""

    async def opened(self) -> None:
        """Wait for it."""


class Errors(Protocol):
    """Where what failed is logged and said."""

    def report(self, error: BaseException, doing: str) -> None:
        """Log an error and say it."""

    def guarded(self, doing: str, work: Callable[[], object]) -> None:
        """Do some work, and report what it fails with."""


class ActionHost(Protocol):
    """The console, as the dispatcher sees it; a test gives another."""

    only_looks: bool  # Whether whatever changes something is refused.

    @property
    def screen(self) -> Any:
        """What is shown, a dialog included."""

    @property
    def top(self) -> TopScreen | None:
        """The console screen that is seen, also under a dialog."""

    @property
    def bridge(self) -> Opening:
        """The picture of the core."""

    @property
    def two_presses(self) -> TwoPresses:
        """What takes a second press."""

    @property
    def stray_words(self) -> StrayWords:
        """Where it is told that the key being handled opens a field."""

    @property
    def errors(self) -> Errors:
        """Where what failed is said."""

    def say(self, text: str, *, tone: str = "information") -> None:
        """Say a line to the operator."""

    def spawn(self, work: Coroutine[Any, Any, Any], name: str, wait: Wait = Wait.ANSWER) -> None:
        """Do work beside the messages."""


class Dispatcher:
    """What a chosen action comes to.

    Args:
        host: the console.
        everywhere: the controllers that own the actions of no one screen, in order.
    """

    def __init__(self, host: ActionHost, everywhere: Sequence[Controller]) -> None:
        self._host = host
        self._everywhere = everywhere
        self._armed_by = ""

    async def act(self, action_id: str) -> None:
        """Do an action, or say why it can do nothing now."""
        host, action = self._host, actions.BY_ID[action_id]
        if action_id != self._armed_by:
            host.two_presses.disarm()
        self._armed_by = action_id
        if action.writes:
            host.stray_words.expect()
        elif action_id == NEXT_QUESTION:
            host.stray_words.expect_card()
        method = None
        for owner in self._owners(action):
            method = getattr(owner, method_name(action_id), None)
            if method is not None:
                break
        if method is not None:
            if why := self._why_not(owner, action_id):
                host.say(why)
                if why == STILL_OPENING:
                    host.spawn(self.once_open(action_id), action.title, Wait.OPENS)
            else:
                await self._do(method, action.title)
        if host.top is not None:
            host.errors.guarded("showing the footer", host.top.show_footer)

    async def once_open(self, action_id: str) -> None:
        """Do an action that nothing was known for yet, and have the keys after it wait for it.

        An opening that takes longer than those keys wait has it dropped with them.
        """
        host = self._host
        with suppress(TimeoutError):
            async with asyncio.timeout(OPENS_S):
                await host.bridge.opened()
            if host.top is not None:
                host.errors.guarded("showing the sessions", host.top.refresh_all)
            await self.act(action_id)

    async def _do(self, method: Callable[[], Awaitable[None] | None], title: str) -> None:
        try:
            result = method()
            if isawaitable(result):
                await result
        except SwitchboardError as error:
            self._host.say(str(error), tone="error")
        except Exception as error:
            self._host.errors.report(error, f"on {title}")

    def _owners(self, action: actions.Action) -> tuple[object, ...]:
        """Return who may do an action, in the order in which they are asked."""
        if action.where is actions.Where.EVERYWHERE:
            return (self._host.screen, *self._everywhere)
        top = self._host.top
        owner = top.owner_of(action.id) if top is not None else None
        return (top,) if owner is None else (owner,)

    def _why_not(self, owner: object, action_id: str) -> str:
        """Return why an action can do nothing now; empty when it can, or says so itself."""
        if self._host.only_looks and actions.BY_ID[action_id].acts:
            return ONLY_LOOKS
        top, is_opening = self._host.top, self._host.bridge.is_opening
        if isinstance(owner, Controller):
            can = owner.can(action_id)
        elif top is not None and owner is top:
            can = top.can(action_id)
        else:
            # A dialog does what it has.
            return ""
        if action_id in NEED_PHONES and is_opening:
            return STILL_OPENING
        if can:
            return ""
        sentence = WHY_NOT.get(action_id, "")
        # What is not known yet is not said to be missing.
        return STILL_OPENING if sentence and is_opening else sentence
