"""Where `screencap` is slow, what a session looks at comes out of the video that runs anyway."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from agent.devices.adb.address import ServerAddress
from agent.devices.adb.client import AdbClient
from agent.devices.adb_device import AdbDevice
from agent.devices.fleet.fleet import AdbFleet
from agent.devices.frames import fast_capture
from agent.devices.frames.fast_capture import LEAST_SIDE_PX, QuickCaptures
from agent.devices.protocols import Capture
from agent.records import Frame, FrameSource
from virtual_phone.server.faults import FaultKind
from virtual_phone.server.serve import PhoneHost

BOUND_S = 60.0


class Scripted:
    """Both ways, played: what each gives, and how long the exact one seems to take."""

    def __init__(self) -> None:
        self.now_s = 1000.0
        self.exact_s = 0.0
        self.has_stream = True
        self.asked: list[int] = []

    async def capture(self, *, timeout_s: float, least_side_px: int | None = None) -> Capture:
        """Return a picture of the way that was asked."""
        if least_side_px is None:
            self.now_s += self.exact_s
            return picture(FrameSource.CAPTURE)
        self.asked.append(least_side_px)
        return picture(FrameSource.SCRCPY)


def picture(source: FrameSource) -> Capture:
    frame = Frame(digest="d", width_px=9, height_px=9, captured_ms=1, source=source)
    return Capture(frame=frame, data=b"")


async def test_a_quick_screencap_is_always_taken() -> None:
    ways = Scripted()
    captures = QuickCaptures(ways, seconds=lambda: ways.now_s)
    captures.stream = ways
    for _ in range(3):
        assert (await captures.capture(timeout_s=30)).frame.source is FrameSource.CAPTURE
    assert ways.asked == []


async def test_a_slow_screencap_gives_way_and_is_measured_anew_after_a_minute() -> None:
    ways = Scripted()
    ways.exact_s = 1.0
    captures = QuickCaptures(ways, seconds=lambda: ways.now_s)
    captures.stream = ways
    taken = [(await captures.capture(timeout_s=30)).frame.source for _ in range(3)]
    assert taken == [FrameSource.CAPTURE, FrameSource.SCRCPY, FrameSource.SCRCPY]
    assert ways.asked == [LEAST_SIDE_PX, LEAST_SIDE_PX]
    ways.now_s += fast_capture.MEASURE_AGAIN_S
    assert (await captures.capture(timeout_s=30)).frame.source is FrameSource.CAPTURE
    captures.forget()
    assert (await captures.capture(timeout_s=30)).frame.source is FrameSource.CAPTURE


@pytest.fixture
async def slow(
    adb_address: ServerAddress, tmp_path: Path
) -> AsyncIterator[tuple[AdbFleet, AdbDevice]]:
    """A phone whose every shell command, `screencap` too, is slow."""
    async with PhoneHost(tmp_path / "phones") as host:
        (serial,) = host.serials
        client = AdbClient(adb_address)
        await client.connect(serial)
        fleet = AdbFleet([adb_address])
        await fleet.start()
        device = await fleet.wait_for(serial, timeout_s=BOUND_S)
        assert isinstance(device, AdbDevice)
        await device.info()
        host.fault(serial, FaultKind.SLOW_SHELL, value=0.3)
        yield fleet, device
        await fleet.close()
        await client.disconnect(serial)


async def until(picture: Callable[[Capture], bool], device: AdbDevice) -> Capture:
    async with asyncio.timeout(BOUND_S):
        while not picture(found := await device.capture(timeout_s=BOUND_S)):
            pass
        return found


async def test_what_is_looked_at_on_a_slow_phone_comes_from_the_video_that_runs(
    slow: tuple[AdbFleet, AdbDevice],
) -> None:
    fleet, device = slow
    assert (await device.capture(timeout_s=BOUND_S)).frame.source is FrameSource.CAPTURE

    async def watch() -> None:
        async for _ in fleet.frames(device.serial, width_px=240, height_px=240, max_hz=5):
            pass

    watching = asyncio.create_task(watch())
    try:
        before = await until(lambda one: one.frame.source is FrameSource.SCRCPY, device)
        assert max(before.frame.width_px, before.frame.height_px) >= LEAST_SIDE_PX
        assert 0 < before.frame.captured_ms <= before.frame.ended_ms
        assert before.data.startswith(b"\x89PNG")
        await device.launch("com.android.settings", timeout_s=BOUND_S)
        after = await until(lambda one: one.frame.digest != before.frame.digest, device)
        assert after.frame.captured_ms >= before.frame.ended_ms
    finally:
        watching.cancel()
        await asyncio.wait({watching})
    # Nobody looks any more: no video runs, and the screen itself is asked again.
    await until(lambda one: one.frame.source is FrameSource.CAPTURE, device)
