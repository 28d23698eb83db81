"""How touches and keys reach one phone: the InputChannel protocol, and the shell's `input` command
as the channel of last resort.

Not text entry (`agent.devices.input.text_channel`). Invariants: places are normalized to [0, 1]; a
gesture takes its true time; one that ran out of time has an unknown outcome and is never repeated.
"""

from typing import Protocol

from agent.devices import gestures
from agent.devices.frames.display_size import DisplaySize
from agent.devices.shell.phone_shell import PhoneShell
from agent.errors import DeviceError
from agent.records import Point


class InputChannel(Protocol):
    """One way for touches and keys to reach one phone."""

    async def perform(self, gesture: gestures.Gesture, *, timeout_s: float) -> None:
        """Do a gesture; `timeout_s` is beyond the gesture's own time.

        Raises DeviceError for one that this way cannot do.
        """

    async def scroll(
        self, at: Point, *, horizontal: float, vertical: float, timeout_s: float
    ) -> None:
        """Turn a mouse wheel over a place, in steps; positive is right and up."""

    async def key(self, code: int, *, timeout_s: float) -> None:
        """Press a key by its Android code, down and up."""


class ShellInput:
    """Act by `input`, which every Android has; each call starts a process on the phone.

    Args:
        number: Android's number of the display that is acted on.
    """

    def __init__(self, shell: PhoneShell, display: DisplaySize, *, number: int = 0) -> None:
        self._shell = shell
        self._display = display
        # Android before 10 has no such option, and no second display to need it.
        self._input = f"input -d {number}" if number else "input"

    async def perform(self, gesture: gestures.Gesture, *, timeout_s: float) -> None:
        """Do a gesture of one finger. Raises DeviceError for other ones."""
        # What no hand can do is refused by the same rules on every way.
        lasting_s = gestures.duration_ms(gestures.strokes(gesture)) / 1000
        match gesture:
            case gestures.Tap(at):
                words = f"tap {await self._pixels(at)}"
            case gestures.DoubleTap(at):
                tap = f"{self._input} tap {await self._pixels(at)}"
                # Starting `input` again takes as long as the gap should be.
                await self._shell.checked(f"{tap} && {tap}", timeout_s + lasting_s)
                return
            case gestures.LongPress(at, lasting_ms):
                words = f"swipe {await self._pixels(at, at)} {lasting_ms}"
            case gestures.Swipe(start, end, lasting_ms):
                words = f"swipe {await self._pixels(start, end)} {lasting_ms}"
            case gestures.Drag(start, end, _, lasting_ms):
                words = f"draganddrop {await self._pixels(start, end)} {lasting_ms}"
            case _:
                raise DeviceError(
                    f"{self._shell.serial} cannot perform a {type(gesture).__name__.lower()}: "
                    "`input` only moves one finger in a straight line.",
                    "Install a scrcpy server for it; `switchboard devices` says how.",
                )
        await self._shell.checked(f"{self._input} {words}", timeout_s + lasting_s)

    async def scroll(
        self, at: Point, *, horizontal: float, vertical: float, timeout_s: float
    ) -> None:
        """Turn a mouse wheel over a place; Android 14 and newer know it."""
        axes = f"--axis VSCROLL,{vertical:g} --axis HSCROLL,{horizontal:g}"
        await self._shell.checked(f"input mouse scroll {await self._pixels(at)} {axes}", timeout_s)

    async def key(self, code: int, *, timeout_s: float) -> None:
        """Press a key by its Android code."""
        await self._shell.checked(f"{self._input} keyevent {code}", timeout_s)

    async def _pixels(self, *places: Point) -> str:
        pixels = [await self._display.pixel(at) for at in places]
        return " ".join(f"{x} {y}" for x, y in pixels)
