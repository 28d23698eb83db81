"""The phone as if one extra display were its only screen: the Device form of a display.

Not the display's life (`displays`). Invariants: pictures, touches, keys and text go to this display
and no other; what only the main display has is refused with its reason; what the phone is known to
refuse is not done (`ScrcpyLink.confirm`).
"""

import re
from collections.abc import Awaitable, Callable
from typing import Protocol

from agent.devices.gestures import Gesture, LongPress, Swipe, Tap, events, strokes
from agent.devices.input.keycodes import button_code, key_code
from agent.devices.no_displays import NoDisplays
from agent.devices.protocols import (
    TREE_TIMEOUT_S,
    Button,
    Capture,
    Dated,
    Device,
    Displays,
    TextWay,
    Typed,
    UiTree,
)
from agent.devices.scrcpy.control import ControlChannel
from agent.devices.scrcpy.messages import Place
from agent.devices.trees.display_tree import DisplayTrees
from agent.errors import TextEntryError
from agent.records import AppInfo, DeviceInfo, Foreground, Point

_PRINTABLE = re.compile(r"[ -~]*")


class OwnDisplay(Protocol):
    """The display that is driven, as far as driving it takes."""

    @property
    def number(self) -> int:
        """Android's number of the display."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""

    def place(self, at: Point) -> Place:
        """Return the pixel of a place on this display."""

    async def start_app(self, package: str, *, timeout_s: float = 10.0) -> None: ...

    async def capture(self, *, timeout_s: float = 10.0) -> Capture:
        """Take a picture of this display."""

    async def foreground(self, *, timeout_s: float) -> Foreground:
        """Return which app is in front here."""


class DisplayDevice:
    """Drive one display of a phone."""

    def __init__(
        self,
        display: OwnDisplay,
        main: Device,
        channel: ControlChannel,
        confirm: Callable[[float], Awaitable[None]],
        trees: DisplayTrees,
        may_act: Callable[[], None],
    ) -> None:
        self._display = display
        self._main = main
        self._channel = channel
        self._confirm = confirm
        self._trees = trees
        self._may_act = may_act

    @property
    def serial(self) -> str:
        """The phone's."""
        return self._main.serial

    @property
    def displays(self) -> Displays:
        """None: displays are opened on the phone."""
        return NoDisplays(self.serial, "this is one itself.")

    async def info(self) -> DeviceInfo:
        """Ask the phone what it is."""
        return await self._main.info()

    async def capture(self, *, timeout_s: float = 10.0) -> Capture:
        """Take a picture of the display."""
        return await self._display.capture(timeout_s=timeout_s)

    async def tree(self, *, timeout_s: float = TREE_TIMEOUT_S) -> UiTree:
        """Read the tree of the window in front. Raises TreeUnavailableError with the reason."""
        return await self._trees.tree(timeout_s=timeout_s)

    async def foreground(self, *, timeout_s: float = 5.0) -> Foreground:
        """Return which app is in front on this display."""
        return await self._display.foreground(timeout_s=timeout_s)

    async def apps(self, *, timeout_s: float = 10.0) -> tuple[AppInfo, ...]:
        """List the apps that can be started."""
        return await self._main.apps(timeout_s=timeout_s)

    async def local_time(self, *, timeout_s: float = 5.0) -> str:
        """Return the phone's; empty if it does not report it. Raises DeviceError."""
        main = self._main
        return await main.local_time(timeout_s=timeout_s) if isinstance(main, Dated) else ""

    # --- acting ----------

    async def caret_to_end(self, *, timeout_s: float = 5.0) -> None:
        """Put the caret behind the line that it is in."""
        await self.key("MOVE_END", timeout_s=timeout_s)

    async def tap(self, at: Point, *, timeout_s: float = 5.0) -> None:
        """Touch a place briefly."""
        await self.perform(Tap(at), timeout_s=timeout_s)

    async def long_press(self, at: Point, *, duration_ms: int = 1000) -> None:
        """Touch a place and hold it."""
        await self.perform(LongPress(at, duration_ms))

    async def swipe(self, start: Point, end: Point, *, duration_ms: int = 300) -> None:
        """Move a finger from one place to another."""
        await self.perform(Swipe(start, end, duration_ms))

    async def perform(self, gesture: Gesture, *, timeout_s: float = 5.0) -> None:
        self._may_act()
        width, height = self._display.size
        await self._channel.play(
            events(strokes(gesture, aspect=height / max(width, 1))), self._display.place
        )
        await self._confirm(timeout_s)

    async def scroll(
        self, at: Point, *, vertical: float, horizontal: float = 0.0, timeout_s: float = 5.0
    ) -> None:
        """Turn a mouse wheel over a place."""
        self._may_act()
        await self._channel.scroll(self._display.place(at), horizontal, vertical)
        await self._confirm(timeout_s)

    async def key(self, name: str, *, timeout_s: float = 5.0) -> None:
        self._may_act()
        await self._channel.key(key_code(name))
        await self._confirm(timeout_s)

    async def press(self, button: Button, *, timeout_s: float = 5.0) -> None:
        self._may_act()
        await self._channel.key(button_code(button))
        await self._confirm(timeout_s)

    async def clipboard(self, *, timeout_s: float = 10.0) -> str:
        """Read the clipboard, which all displays share."""
        return await self._channel.clipboard()

    async def set_clipboard(
        self, text: str, *, paste: bool = False, timeout_s: float = 10.0
    ) -> None:
        self._may_act()
        await self._channel.set_clipboard(text, paste=paste)
        if paste:
            await self._confirm(timeout_s)

    async def type_text(self, text: str, *, timeout_s: float = 15.0) -> Typed:
        """Type into the field that has the focus on this display.

        Raises TextEntryError for what no key writes: pasting it would change the owner's clipboard.
        """
        if not _PRINTABLE.fullmatch(text):
            raise TextEntryError(
                f"Only printable ASCII can be typed on display {self._display.number} of "
                f"{self.serial}.",
                "Bring the app to the main display to type the rest.",
            )
        self._may_act()
        await self._channel.type_ascii(text)
        await self._confirm(timeout_s)
        return Typed(way=TextWay.KEYS, unread="text on another display is not read back.")

    async def clear_field(self, *, timeout_s: float = 15.0) -> None:
        """Raises TextEntryError: what is deleted on another display could not be read back."""
        raise TextEntryError(
            f"A field on display {self._display.number} of {self.serial} cannot be emptied: it "
            "could not be read back.",
            "Bring the app to the main display, or delete the text key by key.",
        )

    async def launch(self, package: str, *, timeout_s: float = 10.0) -> None:
        """Start an app on this display."""
        await self._display.start_app(package, timeout_s=timeout_s)
