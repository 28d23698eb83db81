"""Touches and keys over a control socket that is kept warm while somebody drives the phone.

Falls back to the shell's `input`, before anything was sent or where the phone said that it refused
what was. Not the socket (`control`). Invariants: a gesture that may have taken effect goes one way
only and is never repeated; behind each the phone answers (`ScrcpyLink.confirm`), so that "done"
means that the phone has taken it; what it is known to refuse is not sent.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from agent.devices import gestures
from agent.devices.frames.display_size import DisplaySize
from agent.devices.input.input_channel import InputChannel
from agent.devices.scrcpy.arguments import SessionOptions
from agent.devices.scrcpy.control import ControlChannel
from agent.devices.scrcpy.link import NO_SCID, ScrcpyLink
from agent.devices.scrcpy.messages import Place
from agent.errors import DeviceError, DeviceLostError, DeviceTimeoutError, InputRefusedError
from agent.records import Point

FIRST_RETRY_S = 2.0
LONGEST_RETRY_S = 60.0
_NEEDS_CONTROL = (gestures.Path, gestures.Pinch, gestures.Rotate, gestures.MultiSwipe)


class WarmInput:
    """Act on one phone's main display.

    Args:
        link: opens sessions.
        display: returns the size that places are pixels of.
        cold: acts while there is no control socket.
    """

    def __init__(self, link: ScrcpyLink, display: DisplaySize, cold: InputChannel) -> None:
        self._link = link
        self._display = display
        self._cold = cold
        self._channel: ControlChannel | None = None
        self._opening: asyncio.Task[ControlChannel] | None = None
        self._again_s = 0.0
        self._pause_s = FIRST_RETRY_S
        self._is_warm = False
        self._avoids_socket = False
        self._avoids_cold = False

    # --- life ----------

    @property
    def is_wanted(self) -> bool:
        """Whether the operator lets touches go over a control socket."""
        return self._link.settings.control and not self._avoids_socket

    def avoid(self, *, socket: bool = False, cold: bool = False) -> None:
        """Keep off what was seen to have no effect on this build, as long as the other is there."""
        self._avoids_socket, self._avoids_cold = socket, cold

    def warm(self) -> None:
        """Begin to open the socket, so that it is there for the first action; returns at once."""
        self._is_warm = True
        self._begin()

    async def close_socket(self) -> None:
        """Close the socket: nobody drives the phone any more."""
        self._is_warm = False
        opening, self._opening = self._opening, None
        if opening is not None:
            opening.cancel()
            await asyncio.wait({opening})
            if not opening.cancelled() and opening.exception() is None:
                await opening.result().close()
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.close()

    def forget(self) -> None:
        """Try again at once: the phone came back. A socket that broke is noticed by itself."""
        self._again_s, self._pause_s = 0.0, FIRST_RETRY_S
        self.avoid()

    # --- acting ----------

    async def perform(self, gesture: gestures.Gesture, *, timeout_s: float) -> None:
        """Do a gesture over the socket; one finger's may go by `input` while there is none.

        Raises DeviceTimeoutError when it is not known whether it took effect.
        """
        width, height = await self._display.current()
        fingers = gestures.strokes(gesture, aspect=height / width)
        steps = gestures.events(fingers)

        def place(at: Point) -> Place:
            return _place(at, width, height)

        needs_it = isinstance(gesture, _NEEDS_CONTROL)
        channel = await self._channel_to_act(must=needs_it)
        if channel is None:
            await self._cold.perform(gesture, timeout_s=timeout_s)
            return
        async with self._bounded(timeout_s + gestures.duration_ms(fingers) / 1000, "a gesture"):
            try:
                await channel.play(steps, place)
            except DeviceLostError:
                # Nothing was sent: the other way may still do it, once.
                if needs_it:
                    raise
                channel = None
            else:
                if not await self._confirm(channel, timeout_s, may_go_elsewhere=not needs_it):
                    channel = None
        if channel is None:
            await self._cold.perform(gesture, timeout_s=timeout_s)

    async def scroll(
        self, at: Point, *, horizontal: float, vertical: float, timeout_s: float
    ) -> None:
        """Turn a mouse wheel over a place, in steps; positive is right and up."""
        place = _place(at, *await self._display.current())
        if not await self._send(
            lambda channel: channel.scroll(place, horizontal, vertical), timeout_s
        ):
            await self._cold.scroll(
                at, horizontal=horizontal, vertical=vertical, timeout_s=timeout_s
            )

    async def key(self, code: int, *, timeout_s: float) -> None:
        """Press a key by its Android code."""
        if not await self._send(lambda channel: channel.key(code), timeout_s):
            await self._cold.key(code, timeout_s=timeout_s)

    async def can_paste(self, timeout_s: float) -> None:
        """Open the socket. Raises DeviceError when there is no way to paste."""
        await self._channel_to_act(must=True)

    async def paste(self, text: str, timeout_s: float) -> None:
        """Set the clipboard and paste it into the focused field.

        Raises InputRefusedError when the key that pastes is refused.
        """
        async with self._bounded(timeout_s, "pasting"):
            channel = await self._channel_to_act(must=True)
            if channel is None:
                raise DeviceError(f"{self._link.serial} has no control socket.", "Try again.")
            await channel.set_clipboard(text, paste=True)
            await self._confirm(channel, timeout_s, may_go_elsewhere=False)

    async def channel(self, *, timeout_s: float) -> ControlChannel:
        """Return the socket, opened if needed. Raises DeviceError with the reason if it fails."""
        async with self._bounded(timeout_s, "opening a control socket"):
            channel = await self._channel_for(must=True)
        if channel is None:
            raise DeviceError(f"{self._link.serial} has no control socket.", "Try again.")
        return channel

    # --- below ----------

    async def _send(
        self, say: Callable[[ControlChannel], Awaitable[None]], timeout_s: float
    ) -> bool:
        """Send one message over the socket; return whether there was one to say it on."""
        channel = await self._channel_to_act(must=False)
        if channel is None:
            return False
        async with self._bounded(timeout_s, "an action"):
            await self._sent_once(say(channel))
            return await self._confirm(channel, timeout_s)

    async def _sent_once(self, sending: Awaitable[None]) -> None:
        try:
            await sending
        except DeviceLostError as error:
            raise DeviceTimeoutError(
                error.message, "Look at the screen first: whether it took effect is unknown."
            ) from error

    async def _confirm(
        self, channel: ControlChannel, timeout_s: float, *, may_go_elsewhere: bool = True
    ) -> bool:
        """Have the phone answer behind an action; return False where it may go another way.

        Raises InputRefusedError where it may not: another action of this socket was taken before,
        and who knows how much of this one was.
        """
        was_proven = channel.is_proven
        try:
            await self._link.confirm(channel, timeout_s)
        except InputRefusedError:
            if was_proven or not may_go_elsewhere:
                raise
            return False
        except DeviceLostError as error:
            raise DeviceTimeoutError(
                f"{self._link.serial} went away during an action: {error.message}",
                "Look at the screen first: whether it took effect is unknown.",
            ) from error
        return True

    async def _channel_to_act(self, *, must: bool) -> ControlChannel | None:
        """Return the socket for touches or keys; None where they go by `input`.

        Raises InputRefusedError with `must` where the phone is known to refuse them.
        """
        refusal = self._link.input_refusal
        if refusal is None:
            return await self._channel_for(must)
        if must:
            raise InputRefusedError(refusal.message, refusal.remedy)
        return None

    async def _channel_for(self, must: bool) -> ControlChannel | None:
        """Return the socket when it is open. With `must`, open it; else begin to, for the next."""
        if self._channel is not None and not self._channel.is_open:
            broken, self._channel = self._channel, None
            await broken.close()
        if self._channel is not None:
            return self._channel if must or not self._avoids_socket else None
        if self._avoids_socket and not must:
            return None
        must = must or (self._avoids_cold and self.is_wanted)
        if must or (self._opening is not None and self._opening.done()):
            self._begin(must=must)
            opening = self._opening
            if opening is not None:
                try:
                    self._channel = await asyncio.shield(opening)
                    self._pause_s = FIRST_RETRY_S
                except DeviceError:
                    self._again_s = time.monotonic() + self._pause_s
                    self._pause_s = min(self._pause_s * 2, LONGEST_RETRY_S)
                    if must:
                        raise
                finally:
                    if opening.done():
                        self._opening = None
            return self._channel
        if self._is_warm:
            self._begin()
        return None

    def _begin(self, *, must: bool = False) -> None:
        if self._opening is not None or self._channel is not None:
            return
        if not self._link.settings.control and not must:
            return
        if must or time.monotonic() >= self._again_s:
            self._opening = asyncio.create_task(
                self._open(), name=f"open control of {self._link.serial}"
            )
            # Whoever wants it next learns of the failure; nobody may.
            self._opening.add_done_callback(_take_note)

    async def _open(self) -> ControlChannel:
        server = await self._link.server()
        options = SessionOptions(scid=NO_SCID, video=False, control=True)
        if not server.ways.can_skip_video:
            raise DeviceError(
                f"scrcpy {server.ways} gives no control socket without video.",
                "Use a server of version 2.1 or newer.",
            )
        return ControlChannel(await self._link.open(options))

    @asynccontextmanager
    async def _bounded(self, timeout_s: float, doing: str) -> AsyncIterator[None]:
        try:
            async with asyncio.timeout(timeout_s):
                yield
        except TimeoutError:
            raise DeviceTimeoutError(
                f"{self._link.serial} did not finish {doing} within {timeout_s:g} s.",
                "Look at the screen first: whether it took effect is unknown.",
            ) from None


def _take_note(task: asyncio.Task[ControlChannel]) -> None:
    if not task.cancelled():
        task.exception()


def _place(at: Point, width: int, height: int) -> Place:
    """Return the pixel of a place, clipped to the picture."""
    x = min(int(min(max(at.x, 0.0), 1.0) * width), width - 1)
    y = min(int(min(max(at.y, 0.0), 1.0) * height), height - 1)
    return Place(x, y, width, height)
