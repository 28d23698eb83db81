"""Examine the ways to a phone that need a scrcpy server: its video and its control socket.

Not their use (`agent.devices.scrcpy`). Invariants: each way is opened for the examination alone and
ended with it; a phone without a server is no failure, for captures and `input` do instead.
"""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agent.devices.health.findings import RepairableFinding, latency
from agent.devices.scrcpy.arguments import SessionOptions
from agent.devices.scrcpy.link import NO_SCID, ScrcpyLink
from agent.devices.scrcpy.packets import VideoPacket, read_video
from agent.devices.scrcpy.server_file import NoServerError, PhoneServer
from agent.devices.scrcpy.session import ScrcpySession
from agent.errors import DeviceError

SLOW_VIDEO_MS, SLOW_TOUCH_MS = 3000, 500
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
    """Return how long the phone takes to answer behind an open control socket."""
    try:
        server = await link.server()
        if not server.ways.can_skip_video:
            return RepairableFinding(
                name="touch",
                ok=True,
                detail=f"touches go by `input`: scrcpy {server.ways} has no socket without video",
                remedy="Use a server of version 2.1 or newer.",
            )
        async with _run(link, SessionOptions(scid=NO_SCID, video=False)):
            began = time.monotonic()
            await link.probe(SLOW_TOUCH_MS * 4 / 1000)
            took_ms = round((time.monotonic() - began) * 1000)
    except NoServerError as error:
        return _without("touch", "touches go by `input` instead", error)
    return latency("touch", took_ms, SLOW_TOUCH_MS, f"a control socket of {_named(server)}")


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
