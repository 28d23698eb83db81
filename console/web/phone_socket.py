"""One browser tab's phone panel: the frames of the phone it shows, and what is done on it.

Not the console in the tab (`tab`), which is a process of its own. Invariants: a frame is sent only
after the one before it was drawn, so a slow link gets fewer frames and never older ones; a wheel
that was taken here is handed back when the tab goes; a page that only looks sends no op.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import assert_never

import msgspec
from aiohttp import WSMsgType, web

from agent.core import Core
from agent.devices.frames.png import jpeg_of
from agent.errors import SwitchboardError
from agent.protocol import DeviceChanged, WheelAct, WheelHandBack, WheelTake
from agent.records import DeviceInfo, LiveFrame
from console.web import phone_messages
from widgets.lists.session_rows import device_name

FRAME_HZ = 30.0
_MESSAGE_LIMIT_BYTES = 64 * 1024
_DRAWN_BOUND_S = 10.0
"""A page that is hidden draws nothing; it is sent a frame now and then all the same."""
_HEARTBEAT_S = 20.0
_MOST_WAITING = 64  # Gestures that wait for the phone.

OpenCore = Callable[[], Awaitable[Core]]


async def serve_phone(
    request: web.Request, open_core: OpenCore, *, may_drive: bool
) -> web.WebSocketResponse:
    """Serve one panel until its tab goes.

    Args:
        open_core: connects to the core; the connection is the panel's own.
        may_drive: whether it may act.
    """
    socket = web.WebSocketResponse(heartbeat=_HEARTBEAT_S, max_msg_size=_MESSAGE_LIMIT_BYTES)
    await socket.prepare(request)
    try:
        core = await open_core()
    except SwitchboardError as error:
        await socket.send_bytes(
            phone_messages.to_page.encode(phone_messages.Problem(error.message, error.remedy))
        )
        await socket.close()
        return socket
    try:
        await PhonePanel(socket, core, may_drive=may_drive).run()
    finally:
        await core.close()
    return socket


class PhonePanel:
    """The panel of one tab.

    Args:
        socket: to the page.
        core: where frames and devices come from.
        may_drive: whether the wheel can be taken here.
    """

    def __init__(self, socket: web.WebSocketResponse, core: Core, *, may_drive: bool) -> None:
        self._socket = socket
        self._core = core
        self._may_drive = may_drive
        self._devices: dict[str, DeviceInfo] = {}
        self._shown = phone_messages.Show("", 1, 1)
        self._following: asyncio.Task[None] | None = None
        self._number = 0
        self._drawn = asyncio.Event()
        self._held = ""
        """The phone whose wheel was taken here."""
        self._waiting: asyncio.Queue[
            tuple[str, phone_messages.Take | phone_messages.HandBack | phone_messages.Act]
        ] = asyncio.Queue(_MOST_WAITING)

    async def run(self) -> None:
        """Talk to the page until it goes or the core ends."""
        tasks = {
            asyncio.create_task(self._list_phones(), name="phones of a page"),
            asyncio.create_task(self._act_in_order(), name="gestures of a page"),
        }
        try:
            async for message in self._socket:
                if message.type is WSMsgType.TEXT:
                    await self._take(message.data)
        finally:
            if self._following is not None:
                tasks.add(self._following)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            await self._let_go()

    # --- from the page ----------

    async def _take(self, data: str) -> None:
        try:
            said = phone_messages.from_page.decode(data)
        except (msgspec.DecodeError, ValueError) as error:
            await self._send(
                phone_messages.Problem(
                    f"The page sent a message of another form: {error}.", "Reload the page."
                )
            )
            return
        match said:
            case phone_messages.Show():
                await self._show(said)
            case phone_messages.Shown(number=number):
                if number == self._number:
                    self._drawn.set()
            case phone_messages.Take() | phone_messages.HandBack() | phone_messages.Act():
                try:
                    self._waiting.put_nowait((self._shown.serial, said))
                except asyncio.QueueFull:
                    await self._send(
                        phone_messages.Problem(
                            f"{_MOST_WAITING} gestures wait for the phone; this one was dropped.",
                            "Wait until the phone has caught up.",
                        )
                    )

    async def _act_in_order(self) -> None:
        """Act one gesture after the other, so that pictures do not wait for a slow one."""
        while True:
            serial, said = await self._waiting.get()
            try:
                await self._act(serial, said)
            except SwitchboardError as error:
                await self._send(phone_messages.Problem(error.message, error.remedy))

    async def _act(
        self, serial: str, said: phone_messages.Take | phone_messages.HandBack | phone_messages.Act
    ) -> None:
        match said:
            case phone_messages.Take():
                await self._core.request(WheelTake(serial=serial))
                self._held = serial
                await self._send(phone_messages.Wheel(True))
            case phone_messages.HandBack(note=note):
                await self._let_go(note)
                await self._send(phone_messages.Wheel(False))
            case phone_messages.Act(gesture=gesture):
                await self._core.request(WheelAct(gesture=gesture, serial=serial))
            case _:
                assert_never(said)

    async def _show(self, show: phone_messages.Show) -> None:
        if show.serial != self._held:
            await self._let_go()
            await self._send(phone_messages.Wheel(False))
        self._shown = msgspec.structs.replace(
            show,
            width_px=min(max(show.width_px, 1), phone_messages.MOST_PX),
            height_px=min(max(show.height_px, 1), phone_messages.MOST_PX),
        )
        if self._following is not None:
            self._following.cancel()
            await asyncio.wait({self._following})
            self._following = None
        if show.serial:
            self._following = asyncio.create_task(self._follow(), name=f"page of {show.serial}")

    async def _let_go(self, note: str = "") -> None:
        held, self._held = self._held, ""
        if held:
            # A phone or a core that is gone took the wheel with it.
            with suppress(SwitchboardError):
                await self._core.request(WheelHandBack(serial=held, note=note))

    # --- to the page ----------

    async def _send(self, message: phone_messages.ToPage) -> None:
        with suppress(ConnectionError):
            await self._socket.send_str(phone_messages.to_page.encode(message).decode())

    async def _list_phones(self) -> None:
        # Followed first, so that no change falls between the list and the first event.
        async with self._core.events() as events:
            overview = await self._core.overview()
            self._devices = {one.serial: one for one in overview.devices}
            await self._send_phones()
            async for event in events:
                if isinstance(event.msg, DeviceChanged):
                    device = event.msg.device
                    self._devices[device.serial] = device
                    await self._send_phones()

    async def _send_phones(self) -> None:
        rows = sorted(
            (
                phone_messages.PhoneRow(
                    one.serial, device_name(one.serial, self._devices), one.state, one.driver
                )
                for one in self._devices.values()
            ),
            key=lambda row: (row.name.casefold(), row.serial),
        )
        await self._send(phone_messages.Phones(tuple(rows), self._may_drive))

    async def _follow(self) -> None:
        show = self._shown
        try:
            async with self._core.frames(
                show.serial, width_px=show.width_px, height_px=show.height_px, max_hz=FRAME_HZ
            ) as frames:
                await self._send_each(frames)
        except SwitchboardError as error:
            await self._send(phone_messages.Problem(error.message, error.remedy))

    async def _send_each(self, frames: AsyncIterator[LiveFrame]) -> None:
        async for frame in frames:
            data = (
                await asyncio.to_thread(jpeg_of, frame.rgb, (frame.width_px, frame.height_px))
                if frame.rgb
                else b""
            )
            self._number += 1
            self._drawn.clear()
            age_ms = max(time.time_ns() // 1_000_000 - frame.captured_ms, 0)
            picture = phone_messages.Picture(
                self._number, frame.serial, frame.status, frame.detail, age_ms, bool(data)
            )
            await self._send(picture)
            if data:
                with suppress(ConnectionError):
                    await self._socket.send_bytes(data)
            with suppress(TimeoutError):
                async with asyncio.timeout(_DRAWN_BOUND_S):
                    await self._drawn.wait()
