"""Examine the ways to a phone that need a scrcpy server: its video and its control socket.

Not their use (`agent.devices.scrcpy`). Invariants: each way is opened for the examination alone and
ended with it; a phone without a server is no failure, for captures and `input` do instead.
"""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agent.devices.health.findings import RepairableFinding, latency
from agent.devices.scrcpy import messages
from agent.devices.scrcpy.arguments import SessionOptions
from agent.devices.scrcpy.control import ControlChannel
from agent.devices.scrcpy.link import NO_SCID, ScrcpyLink
from agent.devices.scrcpy.messages import KeyAction
from agent.devices.scrcpy.packets import VideoPacket, read_video
from agent.devices.scrcpy.server_file import NoServerError, PhoneServer
from agent.devices.scrcpy.session import ScrcpySession
from agent.errors import DeviceError, InputRefusedError

SLOW_VIDEO_MS, SLOW_TOUCH_MS = 3000, 500
INPUT_TIMEOUT_S = 10.0
KEYCODE_UNKNOWN = 0
_LONGER_SIDE_PX = 720


async def examine_video(link: ScrcpyLink) -> RepairableFinding:
    """Return how long it takes from asking for video until its first picture has come."""
    began = time.monotonic()
    try:
        server = await link.server()
        options = SessionOptions(scid=NO_SCID, control=False, max_size_px=_LONGER_SIDE_PX)
        async with _run(link, options) as session:
            took_ms = await _first_picture_ms(session, began)
    except NoServerError as error:
        return _without("video", "captures show the screen instead", error)
    what = f"a first picture by {_named(server)}"
    return latency("video", took_ms, SLOW_VIDEO_MS, what)


async def examine_touch(link: ScrcpyLink) -> RepairableFinding:
    """Send the phone a key that nothing handles, and return whether it took it and how fast.

    It is lifted and was never down, so there is nothing that it could press: no window acts on
    KEYCODE_UNKNOWN, on the lock screen or a TV neither, and it does not light the screen. A screen
    saver may end, as at any key. `input` can only press and lift it. What is proved: Android lets
    adb inject events now (`InputManagerService` checks every event alike since Android 13).
    """
    try:
        server = await link.server()
    except NoServerError as error:
        return await _by_input(link, f"{error.message} {error.remedy}")
    if not server.ways.can_skip_video:
        return await _by_input(
            link,
            f"scrcpy {server.ways} has no socket without video. Use a server of version 2.1 or "
            "newer.",
        )
    session = await link.open(SessionOptions(scid=NO_SCID, video=False))
    channel = ControlChannel(session)
    try:
        began = time.monotonic()
        await channel.send(messages.key(KeyAction.UP, KEYCODE_UNKNOWN))
        await link.confirm(channel, SLOW_TOUCH_MS * 4 / 1000)
        took_ms = round((time.monotonic() - began) * 1000)
    except InputRefusedError as error:
        return await _by_input(link, f"by scrcpy {error.message}")
    finally:
        await channel.close()
    return latency("touch", took_ms, SLOW_TOUCH_MS, f"a key was taken by {_named(server)}")


async def _by_input(link: ScrcpyLink, why: str) -> RepairableFinding:
    """Examine the way that touches go without a control socket."""
    began = time.monotonic()
    try:
        await link.shell.checked(f"input keyevent {KEYCODE_UNKNOWN}", INPUT_TIMEOUT_S)
    except InputRefusedError as error:
        return RepairableFinding(name="touch", ok=False, detail=error.message, remedy=error.remedy)
    took_ms = round((time.monotonic() - began) * 1000)
    return RepairableFinding(
        name="touch",
        ok=True,
        detail=f"a key was taken by `input` in {took_ms} ms, as touches will be: {why}",
        took_ms=took_ms,
    )


def _named(server: PhoneServer) -> str:
    """Name a server with what may explain it when it fails, or surprise who installed another."""
    cautions = " ".join(server.cautions)
    return f"scrcpy {server.ways}{f' ({cautions})' if cautions else ''}"


@asynccontextmanager
async def _run(link: ScrcpyLink, options: SessionOptions) -> AsyncIterator[ScrcpySession]:
    session = await link.open(options)
    try:
        yield session
    finally:
        await session.close()


async def _first_picture_ms(session: ScrcpySession, began: float) -> int:
    if session.video is not None:
        async for item in read_video(session.ways, session.video.exactly):
            if isinstance(item, VideoPacket) and not item.is_config:
                return round((time.monotonic() - began) * 1000)
    raise DeviceError(
        f"The video of {session.serial} ended before a picture came: its server said "
        f"{session.last_output()}.",
        "Captures show the screen meanwhile; restart the phone if this continues.",
    )


def _without(name: str, instead: str, error: NoServerError) -> RepairableFinding:
    return RepairableFinding(
        name=name, ok=True, detail=f"{instead}: {error.message}", remedy=error.remedy
    )
