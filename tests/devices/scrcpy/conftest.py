"""A virtual phone in this process, where what reaches it can be seen, behind a real adb server."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import av  # noqa: F401 - before the phone's and the decoder's threads could both begin to
import pytest

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.adb_device import AdbDevice
from agent.devices.frames.feed import FrameFeed
from agent.devices.scrcpy.link import ScrcpySettings
from virtual_phone.phone import Phone
from virtual_phone.server.faults import FaultKind
from virtual_phone.server.serve import PhoneHost

BOUND_S = 30.0


@dataclass(frozen=True)
class Touched:
    """One thing that one finger did, as the phone saw it, in parts of its screen."""

    action: str
    pointer: int
    x: float
    y: float
    at_s: float


@dataclass
class Bench:
    """One phone, seen from both sides."""

    host: PhoneHost
    phone: Phone
    device: AdbDevice
    touches: list[Touched] = field(default_factory=list)
    touched: asyncio.Event = field(default_factory=asyncio.Event)

    def fault(self, kind: FaultKind) -> None:
        self.host.fault(self.device.serial, kind)

    def mend(self) -> None:
        """Have everything work again."""
        self.host.served(self.device.serial).userland.faults.clear()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until the fingers have done what is waited for."""
        async with asyncio.timeout(BOUND_S):
            while not condition():
                self.touched.clear()
                await self.touched.wait()

    def feed(self) -> FrameFeed:
        async def capture(timeout_s: float) -> object:
            return await self.device.capture(timeout_s=timeout_s)

        return FrameFeed(
            self.device.serial,
            capture,  # type: ignore[arg-type]
            lambda: "",
            video=self.device.video(),
            is_secure=self.device.is_secure,
        )


@pytest.fixture
async def phone_host(tmp_path: Path) -> AsyncIterator[PhoneHost]:
    async with PhoneHost(tmp_path / "phones") as host:
        yield host


@pytest.fixture
async def bench(
    adb_address: ServerAddress, phone_host: PhoneHost, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Bench]:
    """A phone behind a real adb server, driven by scrcpy; what its fingers do is noted."""
    (serial,) = phone_host.serials
    client = AdbClient(adb_address)
    await client.connect(serial)
    device = AdbDevice(client, serial, scrcpy=ScrcpySettings())
    (phone,) = phone_host.phones
    made = Bench(phone_host, phone, device)
    finger = phone.gestures.finger

    def noted(action: str, pointer: int, x: float, y: float, display: int = 0) -> None:
        width, height, _ = phone.displays.size(display)
        made.touches.append(Touched(action, pointer, x / width, y / height, time.monotonic()))
        made.touched.set()
        finger(action, pointer, x, y, display)

    monkeypatch.setattr(phone.gestures, "finger", noted)
    yield made
    await device.close()
    await client.disconnect(serial)
