"""A console on one host's core sees the pictures and the words of another host's phones."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable

import pytest

from agent.protocol import ListHosts
from agent.records import FrameStatus, LiveFrame
from agent.rpc.remote_core import Client
from agent.rpc.rpc_messages import socket_path
from tests.end_to_end.rack import Rack

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("fleets")]
PATIENCE_S = 120.0
WIDE, HIGH = 90, 200


async def until(frames: AsyncIterator[LiveFrame], fits: Callable[[LiveFrame], bool]) -> LiveFrame:
    async with asyncio.timeout(PATIENCE_S):
        async for frame in frames:
            if fits(frame):
                return frame
    raise AssertionError("the frames ended")


async def lookers(rack: Rack, host: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return which hosts are connected to a host, and what they look at."""
    client = await Client.connect(socket_path(rack.directory(host)))
    try:
        found = (await client.status()).clients
    finally:
        await client.close()
    return [(one.name, one.looks_at) for one in found if one.name.startswith("host ")]


async def test_pictures_come_while_they_are_looked_at_and_say_when_their_host_is_gone(
    rack: Rack,
) -> None:
    phone = rack.phone("second")
    core = await Client.connect(socket_path(rack.directory("first")))
    try:
        assert await lookers(rack, "second") == []
        async with core.frames(phone, width_px=WIDE, height_px=HIGH, max_hz=30) as frames:
            shown = await until(frames, lambda one: bool(one.rgb))
            assert shown.serial == phone
            assert shown.width_px <= WIDE
            assert shown.height_px <= HIGH
            assert len(shown.rgb) == 3 * shown.width_px * shown.height_px
            assert await lookers(rack, "second") == [("host first", (phone,))]
            async with asyncio.timeout(PATIENCE_S):
                while not (found := {one.name: one for one in await core.look_up(ListHosts())})[
                    "second"
                ].reply_ms:
                    await asyncio.sleep(0.1)
            assert found["first"].is_here
            assert found["first"].reply_ms is None
            assert all(one.beat_ms for one in found.values())
            # One that stands still, with its connections open, and then goes on.
            process = rack.processes["second"].process
            process.send_signal(signal.SIGSTOP)
            lost = await until(frames, lambda one: one.status is FrameStatus.LOST)
            assert lost.rgb == b""
            process.send_signal(signal.SIGCONT)
            await until(frames, lambda one: bool(one.rgb))
            process.send_signal(signal.SIGKILL)
            await until(frames, lambda one: one.status is FrameStatus.LOST)
            await asyncio.to_thread(rack.start, "second")
            await until(frames, lambda one: bool(one.rgb))
        async with asyncio.timeout(PATIENCE_S):
            while await lookers(rack, "second"):
                await asyncio.sleep(0.1)
    finally:
        await core.close()
