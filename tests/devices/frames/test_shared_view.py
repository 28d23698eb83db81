"""A phone's live frames, seen through shared memory."""

import asyncio
from collections.abc import AsyncIterator

from agent.devices.fleet.fleet import AdbFleet
from agent.devices.frames.shared_memory import FrameReader
from agent.devices.frames.shared_view import share
from agent.devices.protocols import Device
from agent.records import FrameSource, FrameStatus, LiveFrame

BOUND_S = 30.0


def live(rgb: bytes, captured_ms: int, *, detail: str = "") -> LiveFrame:
    status = FrameStatus.LIVE if rgb else FrameStatus.LOST
    return LiveFrame(
        serial="phone",
        width_px=2,
        height_px=1,
        rgb=rgb,
        captured_ms=captured_ms,
        source=FrameSource.SCRCPY,
        status=status,
        detail=detail,
    )


async def test_only_new_pictures_are_written_and_trouble_is_told_once() -> None:
    first, second = b"abcdef", b"ghijkl"
    addresses: list[str] = []
    troubles: list[str] = []
    seen: list[tuple[int, int, bytes]] = []

    async def frames() -> AsyncIterator[LiveFrame]:
        away = live(b"", 0, detail="The device is gone.")
        for frame in (live(first, 1), live(first, 2), away, away, live(second, 3)):
            yield frame
            with FrameReader(addresses[0]) as reader:
                mapped = reader.copy()
                assert mapped is not None
                seen.append((mapped.number, mapped.captured_ms, mapped.pixels.tobytes()))

    await share(frames(), on_address=addresses.append, on_trouble=troubles.append)
    assert seen == [(1, 1, first)] * 4 + [(2, 3, second)]
    assert troubles == ["The device is gone."]


async def test_a_phone_is_seen_through_shared_memory(fleet: AdbFleet, device: Device) -> None:
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    frames = fleet.frames(device.serial, width_px=240, height_px=240, max_hz=10)
    sharing = asyncio.create_task(
        share(frames, on_address=address.set_result, on_trouble=lambda _: None)
    )
    try:
        url = await asyncio.wait_for(address, BOUND_S)
        with FrameReader(url) as reader:
            before = reader.copy()
            assert before is not None and before.pixels.shape[0] == 240
            await device.launch("com.android.settings")
            async with asyncio.timeout(BOUND_S):
                while (now := reader.copy()) is None or (now.pixels == before.pixels).all():
                    await asyncio.sleep(0.02)
            assert now.number > before.number
    finally:
        sharing.cancel()
        await asyncio.wait({sharing})
