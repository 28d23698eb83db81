"""One run of the scrcpy server, as `app_process / com.genymobile.scrcpy.Server …` starts it.

It opens or awaits its sockets in the order video, audio, control, sends what the client's version
expects, and ends when the client or the shell that started it goes. Not a codec and not a reader of
messages. Invariants: a still screen produces no packet; whatever the run created on the phone, it
removes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from virtual_phone.display.frame_cache import KeptPicture
from virtual_phone.display.frozen_display import shown_scene
from virtual_phone.errors import PhoneError
from virtual_phone.scrcpy import stream
from virtual_phone.scrcpy.control import ControlReader, clipboard_message
from virtual_phone.scrcpy.dialect import Dialect, dialect
from virtual_phone.scrcpy.injector import Injector
from virtual_phone.scrcpy.options import ServerOptions, parse_options
from virtual_phone.server.faults import FaultKind
from virtual_phone.server.pipes import Socket

if TYPE_CHECKING:
    from virtual_phone.display.scene import Scene
    from virtual_phone.phone import Phone
    from virtual_phone.shell.call import Call
    from virtual_phone.userland.sockets import Handler
    from virtual_phone.userland.userland import Userland

CLASS = "com.genymobile.scrcpy.Server"

_AUDIO_DISABLED = b"\0\0\0\0"


async def app_process(call: Call, arguments: list[str]) -> int:
    """Run the server until its client goes. Log to stdout as the real one does."""
    if not arguments:
        await call.line("[server] ERROR: Missing client version")
        return 1
    try:
        ways = dialect(arguments[0])
        options = parse_options(ways, arguments[1:])
        run = ServerRun(call.userland, ways, options, say=call.line, complain=call.err)
        await call.line(f"[server] INFO: {run.greeting()}")
        await run.serve()
    except PhoneError as error:
        await call.line(f"[server] ERROR: {error}")
        return 1
    except (EOFError, ConnectionError):
        return 0
    return 0


class ServerRun:
    """The server's side of one client.

    Args:
        say: writes a line to the log that the client reads.
        complain: writes a warning or an error there, on stderr as the real server does.
    """

    def __init__(
        self,
        userland: Userland,
        ways: Dialect,
        options: ServerOptions,
        *,
        say: Callable[[str], Awaitable[None]] | None = None,
        complain: Callable[[str], Awaitable[None]] | None = None,
    ) -> None:
        self._say = say
        self._complain = complain
        self._userland = userland
        self._phone: Phone = userland.phone
        self._ways = ways
        self._options = options
        self._display = options.display_id
        self._video_size: tuple[int, int] | None = None
        self._restart = False
        self._changed = asyncio.Event()
        self._taken = asyncio.Event()
        self._sent_clipboard = self._phone.clipboard.text
        self._picture = KeptPicture(self._phone)

    def greeting(self) -> str:
        """Return the line that the real server begins with."""
        get = self._phone.properties.get
        return (
            f"Device: [{get('ro.product.manufacturer', '')}] {get('ro.product.brand', '')} "
            f"{get('ro.product.model', '')} (Android {get('ro.build.version.release', '')})"
        )

    async def serve(self) -> None:
        """Serve the client until it goes."""
        created = self._open_display()
        try:
            width, height, density = self._phone.displays.size(self._display)
            if created and self._say is not None:
                await self._say(
                    f"[server] INFO: New display: {width}x{height}/{density} (id={self._display})"
                )
            if self._options.power_on and not self._phone.power.screen_on:
                self._phone.power.wake()
            async with _Sockets(self._userland, self._socket_name(), self._options) as sockets:
                await self._serve(sockets)
        finally:
            if created:
                self._phone.displays.remove(self._display)

    def _open_display(self) -> bool:
        if self._options.new_display is None:
            return False
        width, height, density = self._options.new_display
        own = self._phone.displays.size(0)
        self._display = self._phone.displays.add(
            width or own[0], height or own[1], density or own[2], "scrcpy"
        )
        return True

    def _socket_name(self) -> str:
        if self._ways.has_scid and self._options.scid != -1:
            return f"localabstract:scrcpy_{self._options.scid:08x}"
        return "localabstract:scrcpy"

    async def _serve(self, sockets: _Sockets) -> None:
        wanted = [
            ("video", self._options.video),
            ("audio", self._options.audio and self._ways.has_audio),
            ("control", self._options.control),
        ]
        opened: dict[str, Socket] = {}
        for name, is_wanted in wanted:
            if is_wanted:
                opened[name] = await sockets.next()
        if not opened:
            raise PhoneError("Neither video, audio nor control is wanted: nothing to do.")
        if self._options.send_device_meta:
            width, height, _ = self._phone.displays.size(self._display)
            size = self._size_of(width, height)
            name = self._phone.properties.get("ro.product.model", "") or self._phone.name
            await next(iter(opened.values())).write(stream.device_meta(self._ways, name, *size))
        parts = []
        if audio := opened.get("audio"):
            await audio.write(_AUDIO_DISABLED)
        if video := opened.get("video"):
            parts += [self._send_video(video), _until_gone(video)]
        if control := opened.get("control"):
            parts.append(self._serve_control(control))
        await _until_one_ends([asyncio.create_task(part) for part in parts])

    # -- video ---------------------------------------------------------------------------------

    def _size_of(self, width: int, height: int) -> tuple[int, int]:
        multiple = self._options.size_multiple or self._ways.size_multiple
        return stream.video_size(width, height, self._options.max_size, multiple)

    def _restart_video(self) -> None:
        self._restart = True
        self._changed.set()

    async def _send_video(self, socket: Socket) -> None:
        options, ways, phone = self._options, self._ways, self._phone
        encoder: stream.VideoEncoder | None = None
        has_sent = False
        started = time.monotonic()
        # One thread, so that what a frame works on stays in one core's cache.
        drawing = ThreadPoolExecutor(1, "scrcpy")
        loop = asyncio.get_running_loop()
        following = asyncio.create_task(self._follow_changes())
        try:
            while True:
                turn = time.monotonic()
                self._changed.clear()
                self._taken.set()
                await self._userland.faults.hold(FaultKind.ENCODER_STALL)
                width, height, _ = phone.displays.size(self._display)
                size = self._size_of(width, height)
                if encoder is None or self._restart or size != (encoder.width, encoder.height):
                    is_first = encoder is None
                    self._restart = False
                    encoder = await loop.run_in_executor(drawing, self._encoder, size)
                    await self._announce(socket, encoder, is_first=is_first)
                    self._video_size, has_sent = size, False
                scene = shown_scene(self._userland, self._display)
                packets: list[tuple[int, bool, bytes]] = []
                if not (scene.still and has_sent):
                    at_us = int((turn - started) * 1_000_000)
                    packets = await loop.run_in_executor(drawing, self._draw, scene, encoder, at_us)
                    has_sent = True
                for pts_us, is_key, data in packets:
                    await socket.write(
                        stream.frame_packet(
                            ways, pts_us, data, is_key=is_key, with_meta=options.send_frame_meta
                        )
                    )
                await self._changed.wait()
                # A real display refreshes at intervals; the newest state at the next one is sent.
                await asyncio.sleep(max(0.0, 1 / options.max_fps - (time.monotonic() - turn)))
        finally:
            following.cancel()
            drawing.shutdown(wait=False)

    def _encoder(self, size: tuple[int, int]) -> stream.VideoEncoder:
        return stream.VideoEncoder(
            *size, bit_rate=self._options.bit_rate, max_fps=self._options.max_fps
        )

    def _draw(
        self, scene: Scene, encoder: stream.VideoEncoder, pts_us: int
    ) -> list[tuple[int, bool, bytes]]:
        picture = self._picture.show(scene, encoder.width, encoder.height)
        return encoder.encode(picture, pts_us)

    async def _announce(
        self, socket: Socket, encoder: stream.VideoEncoder, *, is_first: bool
    ) -> None:
        options, ways = self._options, self._ways
        if options.send_codec_meta:
            if is_first:
                await socket.write(stream.header(ways, encoder.width, encoder.height))
            elif ways.has_session_packets:
                await socket.write(stream.session_packet(encoder.width, encoder.height))
        await socket.write(
            stream.configuration_packet(
                ways, encoder.configuration, with_meta=options.send_frame_meta
            )
        )

    async def _follow_changes(self) -> None:
        version = self._phone.compositor.version
        while True:
            version = await self._phone.compositor.wait_newer(version)
            self._taken.clear()
            self._changed.set()
            # A finger moves more often than frames are drawn; what it did meanwhile is one change.
            await self._taken.wait()

    # -- control -------------------------------------------------------------------------------

    async def _serve_control(self, socket: Socket) -> None:
        autosync = self._options.clipboard_autosync and self._ways.clipboard_has_sequence
        injector = Injector(
            self._userland,
            self._ways,
            self._display,
            answers_clipboard=not autosync,
            shown_size=lambda: self._video_size,
            send=socket.write,
            log=self._log,
            restart_video=self._restart_video,
        )
        reader = ControlReader(self._ways, socket.read_exactly)
        sharing = asyncio.create_task(self._share_clipboard(socket))
        try:
            while True:
                await injector.handle(await reader.next())
        finally:
            sharing.cancel()
            await injector.release()

    async def _log(self, line: str) -> None:
        if self._complain is not None:
            await self._complain(line)

    async def _share_clipboard(self, socket: Socket) -> None:
        if not self._options.clipboard_autosync:
            return
        version = self._phone.compositor.version
        while True:
            # Copying shows on the screen, so a new frame is the moment to look.
            version = await self._phone.compositor.wait_newer(version)
            if self._phone.clipboard.text != self._sent_clipboard:
                self._sent_clipboard = self._phone.clipboard.text
                await socket.write(clipboard_message(self._sent_clipboard))


class _Sockets:
    """The client's connections in order, awaited (tunnel_forward) or made."""

    def __init__(self, userland: Userland, name: str, options: ServerOptions) -> None:
        self._table = userland.sockets
        self._name = name
        self._options = options
        self._arrived: asyncio.Queue[Socket] = asyncio.Queue(maxsize=8)
        self._opened: list[Socket] = []
        self._over = asyncio.Event()
        self._is_first = True
        # A bound method is a new object at each look; the table knows its handler by identity.
        self._handler: Handler = self._accept

    async def __aenter__(self) -> _Sockets:
        if self._options.tunnel_forward:
            self._table.listen(self._name, self._handler)
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._options.tunnel_forward:
            self._table.close(self._name, self._handler)
        self._over.set()
        for socket in self._opened:
            socket.close()

    async def _accept(self, socket: Socket) -> None:
        try:
            self._arrived.put_nowait(socket)
        except asyncio.QueueFull:
            return
        await self._over.wait()

    async def next(self) -> Socket:
        """Return the next connection; the first awaited one begins with a zero byte."""
        if self._options.tunnel_forward:
            socket = await self._arrived.get()
            if self._is_first and self._options.send_dummy_byte:
                await socket.write(b"\0")
        else:
            socket = self._table.connect(self._name)
        self._is_first = False
        self._opened.append(socket)
        return socket


async def _until_gone(socket: Socket) -> None:
    while await socket.read():
        pass


async def _until_one_ends(tasks: list[asyncio.Task[None]]) -> None:
    """Wait for the first of the tasks to end, end the others, and raise what it raised."""
    if not tasks:
        return
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()
