"""What the operator types and clicks, handled one after the other.

Not the meaning of any key (`console.keys`). Invariant: a key that was pressed on the mouse's or
the palette's behalf is handled where every key is.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from textual.events import Event, Key, MouseMove, Paste, Resize
from textual.keys import _character_to_key
from textual.message import Message
from textual.widgets import Input, TextArea

from console.input.gate import OPENS_S, InputGate, Wait, is_input
from console.input.joiners import joined
from console.input.stray_words import Hands, StrayWords
from console.keys import actions
from console.terminal.notices import make_way
from widgets.base.causality import Cause
from widgets.pictures.phone_pane import is_driven_at
from widgets.questions.question_card import QuestionCard

if TYPE_CHECKING:
    from console.base_app import ConsoleApp


class KeyPressed(Message):
    """A key was pressed by its name: it belongs to the press that asked for it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class Keyboard:
    """Keys, pastes and the mouse of a console.

    Args:
        app: the console.
        handle: Textual's own handling of an event of the app.
    """

    def __init__(self, app: "ConsoleApp", handle: Callable[[Event], Awaitable[None]]) -> None:
        self._app = app
        self._handle = handle
        self.gate = InputGate(
            self._take,
            lambda: app.call_later(self.gate.go_on),
            stops=self._stops_all,
            give_up=self._say_dropped,
            follow=self._follow,
            lay_out=app.lay_out,
        )
        self.stray_words = StrayWords(self._hands, lambda why: app.say(why, tone="warning"))

    async def hear(self, event: Event) -> None:
        """Handle an event of the app: input in its turn, anything else at once."""
        # The first size says how large the terminal is, before there is a screen.
        is_first_size = isinstance(event, Resize) and self._app._size is None
        if is_input(event) and not is_first_size:
            await self.gate.take(joined(event))
        else:
            await self._handle(event)

    def press_named_later(self, name: str) -> None:
        """Press a key by its name once what is being handled is over, and as part of it."""
        self._app.post_message(KeyPressed(name))

    async def press_named(self, name: str) -> None:
        """Press a key by the name that the operator reads, as part of what is handled now."""
        key = actions.KEY_OF_NAME.get(name, name)
        character = name if len(name) == 1 else None
        if character is not None and key == name:
            key = _character_to_key(character)
        # Made here: an event goes no higher than what made it.
        await self._handle(Key(key, character))

    async def press(self, key: str) -> None:
        """Press a key where the focus is, as part of what is being handled."""
        await self._handle(Key(key, None))

    def _follow(self, cause: Cause | None) -> None:
        self._app.follow(cause)
        if cause is None:
            self.stray_words.rest()

    async def _take(self, event: Event) -> None:
        app = self._app
        if not isinstance(event, MouseMove | Resize) and self._is_stray(event):
            return
        if isinstance(event, Key | Paste):
            # Clicks with keys between them are no double click.
            app._click_chain_last_time = None
        elif isinstance(event, MouseMove):
            make_way(app, event)
        elif isinstance(event, Resize):
            await self._handle(event)
            # Now and not a moment later, so that the next key meets the new layout.
            app._check_resize()
            return
        if isinstance(event, Key) and app.bridge.is_opening and self._is_for_what_comes(event):
            app.spawn(self._press_once_open(event.key), "moving in a list", Wait.OPENS)
        else:
            await self._handle(event)

    def _hands(self) -> Hands:
        focused = self._app.focused
        if isinstance(focused, TextArea | Input):
            return Hands.NOWHERE if focused.disabled else Hands.IN_FIELD
        if is_driven_at(focused):
            return Hands.IN_FIELD
        return Hands.AT_CARD if isinstance(focused, QuestionCard) else Hands.NOWHERE

    def _is_stray(self, event: Event) -> bool:
        if isinstance(event, Key) and any(
            event.key in self._app.keys.keys(one) for one in actions.ACTIONS if one.in_text
        ):
            return False
        return self.stray_words.takes(event)

    def _is_for_what_comes(self, key: Key) -> bool:
        """Return whether a key moves in a list, or opens its row, that nothing is in yet."""
        # Of a list or a wall; what else has the focus does not say whether it is.
        if not getattr(self._app.focused, "has_nothing", False):
            return False
        bound = self._app.screen.active_bindings.get(key.key)
        return bound is not None and bound.node is self._app.focused

    async def _press_once_open(self, key: str) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(OPENS_S):
                await self._app.bridge.opened()
            self._app.refresh_top()
            self.press_named_later(key)

    def _stops_all(self, key: Key) -> bool:
        return key.key in self._app.keys.keys(actions.BY_ID["session.stop_all"])

    def _say_dropped(self, count: int) -> None:
        were = "1 key was" if count == 1 else f"{count} keys were"
        self._app.say(f"The core does not answer: {were} dropped.", tone="warning")
