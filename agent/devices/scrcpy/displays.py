"""Extra displays of one phone, each made and kept by a scrcpy run of its own.

The protocols are those of `agent.devices.no_displays`; what acts on one is `display_device`.
Invariants: a display lives exactly as long as its run, so it goes with us, with the link and with
the phone; what is done on one goes to no other display, and only while the phone is ours to drive.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

from agent.devices.facts.fact import Fact
from agent.devices.frames.subscribers import Reader, Readers, reading
from agent.devices.protocols import OPEN_TIMEOUT_S, Capture, Device, Display
from agent.devices.scrcpy.arguments import SessionOptions
from agent.devices.scrcpy.control import ControlChannel
from agent.devices.scrcpy.decoding.pictures import Pictures
from agent.devices.scrcpy.display_device import DisplayDevice
from agent.devices.scrcpy.link import NO_SCID, ScrcpyLink
from agent.devices.scrcpy.messages import Place
from agent.devices.scrcpy.session import ScrcpySession
from agent.devices.scrcpy.video_run import VideoRun, need_decoder, open_decoded
from agent.devices.shell.app_start import PACKAGE, AppStarter, Launchable
from agent.devices.shell.phone_shell import PhoneShell
from agent.devices.shell.window_looks import WindowLooks
from agent.devices.trees.display_tree import DisplayTrees
from agent.errors import DeviceError, DeviceLostError, DeviceTimeoutError
from agent.records import Foreground, FrameSource, FrameStatus, LiveFrame, Point

MAX_FPS = 30
BIT_RATE = 8_000_000
_START_TIMEOUT_S = 10.0
_LOOK_S = 0.1


class ScrcpyDisplays:
    """Open displays on one phone.

    Args:
        shell: the phone's.
        link: opens runs of its server.
        main: the phone itself, for what belongs to no display.
        free: has our service let go of the phone's UiAutomation, for trees of a display.
        may_act: called before each action; raises when the phone is somebody else's now.
    """

    def __init__(
        self,
        shell: PhoneShell,
        link: ScrcpyLink,
        main: Device,
        *,
        free: Callable[[], Awaitable[None]],
        may_act: Callable[[], None],
    ) -> None:
        self._shell = shell
        self._free = free
        self._may_act = may_act
        self._link = link
        self._main = main
        self._open: dict[int, VirtualDisplay] = {}

    async def refusal(self, *, timeout_s: float = 5.0) -> str:
        """Return why this phone cannot open a display; empty when it can."""
        try:
            async with asyncio.timeout(timeout_s):
                ways = (await self._link.server()).ways
        except TimeoutError:
            return f"{self._shell.serial} did not say within {timeout_s:g} s whether it can."
        except DeviceError as error:
            return str(error)
        if not (ways.has_new_display and ways.has_reset_video):
            return f"scrcpy {ways} cannot create a display; a server of version 3.1 or newer can."
        return ""

    async def open(self, *, width_px: int = 0, height_px: int = 0, dpi: int = 0) -> Display:
        """Open a display; zeros take the main display's figures. Raises DeviceError."""
        self._may_act()
        why = await self.refusal()
        if why:
            raise DeviceError(
                f"{self._shell.serial} cannot open another display: {why}",
                "Keep the app on the main display.",
            )
        options = SessionOptions(
            scid=NO_SCID, new_display=(width_px, height_px, dpi), max_fps=MAX_FPS, bit_rate=BIT_RATE
        )
        need_decoder()
        session, pictures = await open_decoded(self._link.open(options), self._link.decoding)
        display = VirtualDisplay(
            self._shell, self._link, session, pictures, self._main, self._free, self._may_act
        )
        try:
            async with asyncio.timeout(OPEN_TIMEOUT_S):
                await display.come_up()
        except BaseException as error:
            await display.close()
            if isinstance(error, TimeoutError):
                raise DeviceTimeoutError(
                    f"The display on {self._shell.serial} did not come up within "
                    f"{OPEN_TIMEOUT_S:g} s: its server said {session.last_output()}.",
                    "Try again, or keep the app on the main display.",
                ) from None
            raise
        self._open[display.number] = display
        return display

    def opened(self) -> tuple[Display, ...]:
        """List those that are open, by number."""
        self._open = {number: one for number, one in self._open.items() if one.is_open}
        return tuple(self._open[number] for number in sorted(self._open))

    async def close(self) -> None:
        displays, self._open = self._open, {}
        await asyncio.gather(*(one.close() for one in displays.values()))


class VirtualDisplay:
    """One display and the run that keeps it."""

    def __init__(
        self,
        shell: PhoneShell,
        link: ScrcpyLink,
        session: ScrcpySession,
        pictures: Pictures,
        main: Device,
        free: Callable[[], Awaitable[None]],
        may_act: Callable[[], None],
    ) -> None:
        self._shell = shell
        self._may_act = may_act
        self._link = link
        self._session = session
        self._size = (0, 0)
        self._windows, self._starter = WindowLooks(shell), AppStarter(shell)
        self._readers = Readers(shell.serial)
        self._sized = asyncio.Event()
        self._channel = ControlChannel(session)
        self._run = VideoRun(
            session, pictures, self._readers, link.probe, self._is_secure, self._learn
        )
        self._serving = asyncio.create_task(self._serve(), name=f"display of {shell.serial}")
        self._number = 0
        self._closed = False
        trees = DisplayTrees(shell, lambda: self._number, lambda: self._size, free)
        self._device = DisplayDevice(self, main, self._channel, self._confirm, trees, may_act)

    @property
    def number(self) -> int:
        """Android's number of the display."""
        return self._number

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        return self._size

    @property
    def is_open(self) -> bool:
        return not self._closed and not self._serving.done() and self._channel.is_open

    @property
    def device(self) -> Device:
        """The phone as if this were its only screen."""
        return self._device

    def place(self, at: Point) -> Place:
        """Return the pixel of a place on this display."""
        width, height = self._size
        x = min(int(min(max(at.x, 0.0), 1.0) * width), width - 1)
        y = min(int(min(max(at.y, 0.0), 1.0) * height), height - 1)
        return Place(x, y, width, height)

    async def come_up(self) -> None:
        """Wait until the display has a number, a size and a picture."""
        ended = asyncio.ensure_future(self._session.ended.wait())
        try:
            for waited in (asyncio.shield(self._session.new_display), self._sized.wait()):
                coming = asyncio.ensure_future(waited)
                await asyncio.wait({coming, ended}, return_when=asyncio.FIRST_COMPLETED)
                if not coming.done():
                    coming.cancel()
                    raise self._lost_error()
        finally:
            ended.cancel()
        self._number = self._session.new_display.result()

    async def start_app(self, package: str, *, timeout_s: float = _START_TIMEOUT_S) -> None:
        """Start an app here; one that runs on another display moves here."""
        found = await self._launchable(package, timeout_s)
        await self._start(found, self._number, timeout_s)
        try:
            async with asyncio.timeout(timeout_s):
                while True:
                    if (await self._device.foreground()).package == package:
                        return
                    await asyncio.sleep(_LOOK_S)
        except TimeoutError:
            raise DeviceError(
                f"{package} did not come up on display {self._number} of {self._shell.serial}.",
                "Some apps refuse other displays; keep it on the main display.",
            ) from None

    async def attach(self, package: str, *, timeout_s: float = 10.0) -> None:
        """Move an app from here to the main display."""
        await self._start(await self._launchable(package, timeout_s), 0, timeout_s)

    async def capture(self, *, timeout_s: float = 10.0) -> Capture:
        """Take a picture of this display, encoded after it was asked for."""
        self._check()
        try:
            async with asyncio.timeout(timeout_s):
                return await self._run.capture()
        except TimeoutError:
            raise DeviceTimeoutError(
                f"Display {self._number} of {self._shell.serial} gave no picture within "
                f"{timeout_s:g} s.",
                "Look again in a moment.",
            ) from None

    async def frames(
        self, *, width_px: int, height_px: int, max_hz: float
    ) -> AsyncGenerator[LiveFrame, None]:
        """Follow the newest picture; ends with the display, after a frame that says so."""
        reader = Reader.checked(width_px, height_px, max_hz)
        with self._readers.joined(reader):
            async for frame in reading(reader, lambda: not self._closed):
                yield frame

    async def close(self) -> None:
        """Remove the display; closing twice is fine."""
        if self._closed:
            return
        self._closed = True
        self._serving.cancel()
        await asyncio.wait({self._serving})
        await self._channel.close()
        await self._run.close()
        self._readers.end()

    async def foreground(self, *, timeout_s: float) -> Foreground:
        """Return which app is in front here."""
        self._check()
        look = await self._windows.look(timeout_s=timeout_s, display=self._number)
        if not look.is_there:
            raise self._lost_error()
        return look.foreground or Foreground(package="", keyboard_shown=None)

    # --- below ----------

    def _learn(self, width: int, height: int) -> None:
        self._size = (width, height)
        self._sized.set()

    async def _serve(self) -> None:
        try:
            await self._run.serve(until=lambda: False)
        except DeviceError as error:
            self._readers.tell_failure(FrameStatus.LOST, FrameSource.SCRCPY, str(error))
            # The run is over and the display with it; nothing of it may stay on the phone.
            await self._session.close()

    async def _confirm(self, timeout_s: float) -> None:
        await self._link.confirm(self._channel, timeout_s)

    def _check(self) -> None:
        if not self.is_open:
            raise self._lost_error()

    def _lost_error(self) -> DeviceLostError:
        return DeviceLostError(
            f"Display {self._number or ''} of {self._shell.serial} is gone: its server said "
            f"{self._session.last_output()}.",
            "Open another one.",
        )

    async def _is_secure(self) -> Fact[bool]:
        return await self._windows.is_secure(self._number)

    async def _launchable(self, package: str, timeout_s: float) -> Launchable:
        self._check()
        if not PACKAGE.fullmatch(package):
            raise DeviceError(
                f"{package!r} is not the name of a package.",
                "Name an app by its package, such as com.android.settings.",
            )
        return await self._starter.resolve(package, timeout_s=timeout_s)

    async def _start(self, found: Launchable, display: int, timeout_s: float) -> None:
        self._may_act()
        self._check()
        await self._starter.start(found, timeout_s=timeout_s, display=display)
