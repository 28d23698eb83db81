"""Displays of phones that can have more than one, for sessions on a stage."""

import io
from collections.abc import AsyncIterator

from PIL import Image

from agent.devices.protocols import Capture, Device, Display
from agent.errors import DeviceError
from agent.records import Frame, LiveFrame
from tests.stage import Cue

_drawn = io.BytesIO()
Image.new("RGB", (1080, 2400), "navy").save(_drawn, "PNG")
PICTURE = _drawn.getvalue()


# --- the typed calls ----------


class OneDisplay:
    def __init__(self, owner: "Screens", number: int) -> None:
        self._owner = owner
        self.number = number
        self.size = (100, 200)
        self.is_open = True
        self.apps: list[str] = []

    @property
    def device(self) -> Device:
        return self._owner.device

    async def start_app(self, package: str, *, timeout_s: float = 10.0) -> None:
        if package == "org.example.absent":
            raise DeviceError(f"{package} has nothing to start.")
        self.apps.append(package)

    async def capture(self, *, timeout_s: float = 10.0) -> Capture:
        frame = Frame(digest="", width_px=1080, height_px=2400, captured_ms=1)
        return Capture(frame=frame, data=PICTURE)

    def frames(self, *, width_px: int, height_px: int, max_hz: float) -> AsyncIterator[LiveFrame]:
        raise DeviceError("nothing is drawn here")

    async def attach(self, package: str, *, timeout_s: float = 10.0) -> None:
        if self._owner.refuses_attach:
            raise DeviceError("it will not move")
        self.apps.remove(package)

    async def close(self) -> None:
        self.is_open = False


class Screens:
    def __init__(self, device: Device) -> None:
        self.device = device
        self.all: list[OneDisplay] = []
        self.refuses_attach = False
        self.stuck: Cue | None = None

    async def refusal(self, *, timeout_s: float = 5.0) -> str:
        return ""

    async def open(self, *, width_px: int = 0, height_px: int = 0, dpi: int = 0) -> Display:
        if self.stuck is not None:
            await self.stuck.wait()
        self.all.append(OneDisplay(self, len(self.all) + 1))
        return self.all[-1]

    def opened(self) -> tuple[Display, ...]:
        return tuple(one for one in self.all if one.is_open)
