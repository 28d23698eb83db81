"""The control socket of one run: events and wishes out, the clipboard and acknowledgements back.

Not gestures or keys (`control_input`). Invariants: a gesture that was begun is never begun again;
when it breaks off, for whatever reason, every finger that is down is lifted as far as the socket
allows, and the outcome is unknown; what the peer sends is bounded, and garbage ends the channel.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from agent.devices.adb.stream import AdbStream
from agent.devices.gestures import FingerAction, FingerEvent
from agent.devices.scrcpy import messages
from agent.devices.scrcpy.messages import CopyKey, KeyAction, Kind, Place, TouchAction
from agent.devices.scrcpy.replies import Acknowledged, Clipboard, read_reply
from agent.devices.scrcpy.session import ScrcpySession
from agent.errors import DeviceError, DeviceLostError, DeviceTimeoutError
from agent.records import Point

REPLY_TIMEOUT_S = 3.0
ECHO_TIMEOUT_S = 1.5
"""How long a server may take to log; milliseconds on phones."""
_LATE_REPLY_S = 0.3
"""How much later than its log a server's answer may come: another thread sends it."""
_SILENCE_S = 1.5
_UNKNOWN_REMEDY = "Look at the screen first: whether it took effect is unknown."

_T = TypeVar("_T")

PlaceOf = Callable[[Point], Place]
"""Gives the pixel, and the picture it is of, for a normalized place."""


class ControlChannel:
    """Speak on one session's control socket."""

    def __init__(self, session: ScrcpySession) -> None:
        if session.control is None:
            raise DeviceError("The session was opened without a control socket.", "")
        self._session = session
        self._stream: AdbStream = session.control
        self._ways = session.ways
        self._turn = asyncio.Lock()
        self._sequence = 0
        self._device = 0
        self._is_mute = not session.ways.has_uhid_destroy
        self.is_proven = False
        """Whether an input of it was seen to pass: the server handled it and logged no refusal."""
        self._clipboards: list[asyncio.Future[str]] = []
        self._acks: dict[int, asyncio.Future[None]] = {}
        self._why = ""
        self._listening = asyncio.create_task(self._listen(), name=f"control of {session.serial}")

    @property
    def session(self) -> ScrcpySession:
        """The run that it belongs to."""
        return self._session

    @property
    def is_open(self) -> bool:
        """Whether something can be said."""
        return not self._why and not self._session.ended.is_set()

    async def close(self) -> None:
        """End the channel and its session."""
        self._listening.cancel()
        await asyncio.wait({self._listening})
        await self._session.close()

    # --- fingers and keys ----------

    async def play(self, steps: Sequence[FingerEvent], place: PlaceOf) -> None:
        """Have fingers do what they do, each at its time.

        Raises DeviceLostError before anything was sent, DeviceTimeoutError when the socket broke in
        the middle, so that nobody knows what took effect.
        """
        async with self._turn:
            self._check()
            # Whatever has a place that cannot be used must fail before a finger goes down.
            planned = [(step, place(step.point)) for step in steps]
            fingers = {step.finger for step in steps}
            pointers = {
                finger: messages.GENERIC_FINGER if len(fingers) == 1 else finger
                for finger in fingers
            }
            down: dict[int, Place] = {}
            loop = asyncio.get_running_loop()
            start_s = loop.time()
            try:
                for step, at in planned:
                    left_s = start_s + step.at_ms / 1000 - loop.time()
                    if left_s > 0:
                        await asyncio.sleep(left_s)
                    self._send_touch(step.action, pointers[step.finger], at)
                    if step.action is FingerAction.UP:
                        down.pop(step.finger, None)
                    else:
                        down[step.finger] = at
                await self._drained()
            except DeviceLostError as error:
                raise DeviceTimeoutError(
                    f"The control socket of {self._session.serial} broke in the middle of a "
                    f"gesture: {error.message}",
                    _UNKNOWN_REMEDY,
                ) from error
            finally:
                with suppress(DeviceError):
                    for finger, at in down.items():
                        self._send_touch(FingerAction.UP, pointers[finger], at)

    def _send_touch(self, action: FingerAction, pointer: int, at: Place) -> None:
        self._write(
            messages.touch(
                self._ways,
                TouchAction(action.value),
                pointer,
                at,
                pressure=0.0 if action is FingerAction.UP else 1.0,
            )
        )

    async def key(self, code: int, *, meta: int = 0) -> None:
        """Press a key, down and up."""
        await self.send(
            messages.key(KeyAction.DOWN, code, meta=meta)
            + messages.key(KeyAction.UP, code, meta=meta)
        )

    async def back_or_screen_on(self) -> None:
        """Wake the screen when it is off, else go back."""
        await self.send(
            messages.back_or_screen_on(KeyAction.DOWN) + messages.back_or_screen_on(KeyAction.UP)
        )

    async def scroll(self, at: Place, horizontal: float, vertical: float) -> None:
        """Turn a wheel over a place, in steps; positive is right and up."""
        await self.send(messages.scroll(self._ways, at, horizontal, vertical))

    async def type_ascii(self, text: str) -> None:
        """Type text that the phone's key map writes; parts are cut between characters."""
        size = messages.TEXT_LIMIT_BYTES
        parts = [text[start : start + size] for start in range(0, len(text), size)]
        await self.send(b"".join(messages.text(part) for part in parts))

    # --- the phone ----------

    async def expand_notifications(self) -> None:
        """Open the shade."""
        await self.send(messages.plain(Kind.EXPAND_NOTIFICATIONS))

    async def collapse_panels(self) -> None:
        """Close the shade."""
        await self.send(messages.plain(Kind.COLLAPSE_PANELS))

    async def rotate(self) -> None:
        """Turn the screen, as the phone's rotation button does."""
        await self.send(messages.plain(Kind.ROTATE))

    async def display_power(self, *, on: bool) -> None:
        """Switch the panel's light; the phone works on."""
        await self.send(messages.display_power(self._ways, on=on))

    async def start_app(self, name: str) -> None:
        """Start an app on the session's display. Raises DeviceError before scrcpy 3.0."""
        await self.send(messages.start_app(self._ways, name))

    async def handled(self) -> bool:
        """Wait until the server has handled what was sent; False where that cannot be known.

        It is asked to take back an input device that it does not know. It handles messages in
        order and only logs that one, behind what it had to say about those before it.
        """
        if self._is_mute:
            return False
        self._device = self._device % 0xFFFF + 1
        echo = self._session.echo(self._device)
        await self.send(messages.uhid_destroy(self._ways, self._device))
        await asyncio.wait({echo}, timeout=ECHO_TIMEOUT_S)
        if echo.cancelled():
            raise DeviceLostError(
                f"The scrcpy server of {self._session.serial} ended: "
                f"{self._session.last_output()}.",
                "It is started again for the next action.",
            )
        # A fork may log other words, or none: it is not waited for again.
        self._is_mute = not echo.done()
        return echo.done()

    # --- the clipboard ----------

    async def clipboard(self, copy_key: CopyKey = CopyKey.NONE) -> str:
        """Read the clipboard, after pressing copy or cut. Text of the phone, not cleaned.

        A server says nothing where the clipboard holds no text (`Controller.getClipboard` of every
        version): the silence of one that has handled the request is an empty clipboard.
        """
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._clipboards.append(future)
        try:
            await self.send(messages.get_clipboard(self._ways, copy_key))
            silence = asyncio.create_task(self._until_silent())
            try:
                waited: set[asyncio.Future[Any]] = {future, silence}
                await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
                if not future.done() and silence.done() and silence.result():
                    return ""
                return await self._answer(future, "gave no clipboard")
            finally:
                silence.cancel()
                await asyncio.gather(silence, return_exceptions=True)
        finally:
            if future in self._clipboards:
                self._clipboards.remove(future)

    async def _until_silent(self) -> bool:
        """Return once an answer would have come; whether the server is known to be alive."""
        if await self.handled():
            await asyncio.sleep(_LATE_REPLY_S)
            return True
        await asyncio.sleep(_SILENCE_S)
        return not self._session.ways.has_uhid_destroy

    async def set_clipboard(self, text: str, *, paste: bool = False) -> None:
        """Set the clipboard, and paste it into the focused field. Waits for the acknowledgement."""
        self._sequence += 1
        sequence = self._sequence
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._acks[sequence] = future
        try:
            await self.send(
                messages.set_clipboard(self._ways, text, sequence=sequence, paste=paste)
            )
            if self._ways.clipboard_has_sequence:
                await self._answer(future, "did not acknowledge the clipboard")
        finally:
            self._acks.pop(sequence, None)

    # --- below ----------

    async def send(self, data: bytes) -> None:
        """Write whole messages. Raises DeviceLostError when the channel is closed."""
        async with self._turn:
            self._write(data)
            await self._drained()

    def _check(self) -> None:
        if not self.is_open:
            raise DeviceLostError(
                f"The control socket of {self._session.serial} is closed"
                f"{': ' if self._why else ''}{self._why}.",
                "It is opened again for the next action.",
            )

    def _write(self, data: bytes) -> None:
        self._check()
        self._stream.writer.write(data)

    async def _drained(self) -> None:
        try:
            async with asyncio.timeout(REPLY_TIMEOUT_S):
                await self._stream.writer.drain()
        except (TimeoutError, ConnectionError) as error:
            self._why = "it takes no more" if isinstance(error, TimeoutError) else "it broke"
            raise DeviceLostError(
                f"The control socket of {self._session.serial} accepts nothing more.",
                "It is opened again for the next action.",
            ) from error

    async def _answer(self, future: asyncio.Future[_T], what: str) -> _T:
        done, _ = await asyncio.wait({future}, timeout=REPLY_TIMEOUT_S)
        if not done:
            raise DeviceTimeoutError(
                f"The scrcpy server of {self._session.serial} {what} within {REPLY_TIMEOUT_S:g} s.",
                _UNKNOWN_REMEDY,
            )
        if future.cancelled():
            raise DeviceTimeoutError(
                f"The control socket of {self._session.serial} closed before it answered: "
                f"{self._why}.",
                _UNKNOWN_REMEDY,
            )
        return future.result()

    async def _listen(self) -> None:
        try:
            while True:
                match await read_reply(self._stream.exactly):
                    case Clipboard(text):
                        if self._clipboards and not self._clipboards[0].done():
                            self._clipboards.pop(0).set_result(text)
                    case Acknowledged(sequence):
                        future = self._acks.get(sequence)
                        if future is not None and not future.done():
                            future.set_result(None)
                    case _:
                        continue
        except DeviceError as error:
            self._why = error.message
        finally:
            self._why = self._why or "it was closed"
            for waiting in self._clipboards:
                waiting.cancel()
            for acknowledged in self._acks.values():
                acknowledged.cancel()
