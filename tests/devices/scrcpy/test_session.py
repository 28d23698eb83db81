"""Runs of the server: of every version, by both ways, and those that do not come up."""

import asyncio

import pytest

from agent.devices.frames.feed import FrameFeed
from agent.devices.scrcpy import session as sessions
from agent.devices.scrcpy import tunnel
from agent.devices.scrcpy.arguments import SessionOptions
from agent.devices.scrcpy.dialect import BUILT_IN, dialect
from agent.devices.scrcpy.link import ScrcpyLink, ScrcpySettings
from agent.devices.scrcpy.packets import VideoPacket, read_video
from agent.devices.scrcpy.server_file import PhoneServer
from agent.devices.scrcpy.session import ScrcpySession, open_session
from agent.errors import DeviceError, DeviceTimeoutError
from agent.records import FrameSource
from tests.devices.scrcpy.conftest import BOUND_S, Bench
from virtual_phone.scrcpy.server import CLASS
from virtual_phone.server.pipes import Socket
from virtual_phone.shell.call import Call

OPTIONS = SessionOptions(scid=0, max_size_px=240)


async def first_picture(session: ScrcpySession) -> VideoPacket:
    """Read up to the first picture."""
    assert session.video is not None
    async with asyncio.timeout(BOUND_S):
        async for item in read_video(session.ways, session.video.exactly):
            if isinstance(item, VideoPacket) and not item.is_config:
                return item
    raise AssertionError("the stream ended")


@pytest.mark.parametrize(
    "version", ["1.20", "1.24", "2.7", "3.3.4", "4.1", "5.0", "5.0.1", "4.1-ez2.2.2"]
)
async def test_a_run_of_every_version_comes_up(bench: Bench, version: str) -> None:
    server = PhoneServer(dialect(version), "/dev/null")
    session = await open_session(bench.device._shell, server, OPTIONS)
    assert (await first_picture(session)).data
    assert session.control is not None
    await session.close()
    assert session.ended.is_set()


async def test_a_version_that_is_newer_than_any_known_is_tried_and_said(bench: Bench) -> None:
    async def refuse(call: Call, arguments: list[str]) -> int:
        await call.err(f"[server] ERROR: no client of version {arguments[0]} is known")
        return 1

    replace_server(bench, refuse)
    link = ScrcpyLink(bench.device._shell, ScrcpySettings())
    link._server = PhoneServer(dialect("6.1"), "/dev/null")
    with pytest.raises(DeviceError, match=r"6\.1 is known") as caught:
        await link.open(OPTIONS)
    assert "scrcpy 6.1 is newer than 5.0.1" in caught.value.remedy


async def test_where_nobody_is_let_in_the_server_comes_to_us(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tunnel, "CONNECT_TIMEOUT_S", 0.2)
    monkeypatch.setattr(tunnel.ForwardTunnel, "prepare", misnamed)
    server = PhoneServer(dialect(BUILT_IN), "/dev/null")
    session = await open_session(bench.device._shell, server, OPTIONS)
    assert not session.options.forward
    assert (await first_picture(session)).data
    await session.close()
    # In a block: a stream whose context nobody holds is closed when garbage is collected.
    asking = bench.device._shell.client.open(
        bench.device.serial, "reverse:list-forward", timeout_s=30
    )
    async with asking as listed:
        assert await listed.block() == b"", "the reversal is taken back"


async def misnamed(self: tunnel.ForwardTunnel, name: str) -> None:
    self._name = f"not-{name}"


def replace_server(bench: Bench, program: object) -> None:
    """Have another program answer as the phone's scrcpy server."""
    bench.host.served(bench.device.serial).userland.app_processes[CLASS] = program  # type: ignore[assignment]


async def test_a_server_that_refuses_is_quoted(bench: Bench) -> None:
    async def refuse(call: Call, arguments: list[str]) -> int:
        await call.line("[server] ERROR: The encoder is on holiday")
        return 1

    replace_server(bench, refuse)
    server = PhoneServer(dialect(BUILT_IN), "/dev/null")
    with pytest.raises(DeviceError, match="on holiday"):
        await open_session(bench.device._shell, server, OPTIONS)


async def test_a_server_that_says_nothing_is_given_up(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def sleep(call: Call, arguments: list[str]) -> int:
        await asyncio.Event().wait()
        return 0

    monkeypatch.setattr(sessions, "OPEN_TIMEOUT_S", 2.0)
    replace_server(bench, sleep)
    server = PhoneServer(dialect(BUILT_IN), "/dev/null")
    with pytest.raises(DeviceTimeoutError, match="did not come up"):
        await open_session(bench.device._shell, server, OPTIONS)


async def test_a_server_that_talks_nonsense_is_left_for_captures(bench: Bench) -> None:
    async def send_garbage(call: Call, arguments: list[str]) -> int:
        scid = next(word for word in arguments if word.startswith("scid="))[5:]
        over = asyncio.Event()

        async def answer(socket: Socket) -> None:
            await socket.write(b"\0" + b"phone".ljust(64, b"\0") + b"\xff" * 4096)
            await over.wait()

        sockets = call.userland.sockets
        sockets.listen(f"localabstract:scrcpy_{scid}", answer)
        try:
            await over.wait()
        finally:
            sockets.close(f"localabstract:scrcpy_{scid}", answer)
        return 0

    replace_server(bench, send_garbage)
    feed: FrameFeed = bench.feed()
    frames = feed.read(width_px=90, height_px=200, max_hz=30)
    async with asyncio.timeout(BOUND_S):
        async for frame in frames:
            if frame.source is FrameSource.CAPTURE and frame.detail:
                break
    assert "codec" in frame.detail
    assert frame.rgb
    await feed.close()
