"""Each fault as a real adb server and a video client meet it: there when begun, gone when ended."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import pytest

from support.connected import Connected
from support.hand import NOON
from support.patience import until
from support.streams import stream_of
from virtual_phone.server.faults import FaultKind

START = (
    "CLASSPATH=/data/local/tmp/s.jar app_process / com.genymobile.scrcpy.Server 3.3.4 "
    "tunnel_forward=true audio=false control=false max_size=360 send_device_meta=false "
    "send_codec_meta=false send_dummy_byte=false"
)
CONFIGURATION = 1 << 63


@dataclass
class Video:
    """The video of a phone, through adb: its pictures are put in a queue as they come."""

    stream: asyncio.StreamReader
    pictures: asyncio.Queue[bytes]

    async def next(self) -> bytes:
        async with asyncio.timeout(30):
            return await self.pictures.get()

    async def follow(self) -> None:
        while True:
            stamp, size = struct.unpack(">QI", await self.stream.readexactly(12))
            data = await self.stream.readexactly(size)
            if not stamp & CONFIGURATION:
                self.pictures.put_nowait(data)


@asynccontextmanager
async def video_of(phone: Connected) -> AsyncIterator[Video]:
    port, serial = phone.adb.port, phone.serial
    async with stream_of(port, serial, f"shell,v2,raw:{START}"):
        await until(lambda: "localabstract:scrcpy" in phone.userland.sockets.names())
        async with stream_of(port, serial, "localabstract:scrcpy") as stream:
            video = Video(stream, asyncio.Queue())
            following = asyncio.create_task(video.follow())
            try:
                yield video
            finally:
                following.cancel()
                with suppress(asyncio.CancelledError, asyncio.IncompleteReadError):
                    await following


def show_something_else(connected: Connected) -> None:
    connected.phone.activities.launch("com.android.settings")


async def settle(connected: Connected, video: Video) -> None:
    """Wait until the video has nothing more to show, and forget what came."""
    await connected.phone.animations.wait_idle()
    with suppress(TimeoutError):
        while True:
            async with asyncio.timeout(0.5):
                await video.pictures.get()


@pytest.mark.parametrize("kind", [FaultKind.ENCODER_STALL, FaultKind.FROZEN_SCREEN])
async def test_video_stops_while_the_fault_is_there_and_goes_on_after(
    connected: Connected, kind: FaultKind
) -> None:
    async with video_of(connected) as video:
        await video.next()
        connected.host.fault(connected.serial, kind)
        # Pictures that are on their way still come.
        await settle(connected, video)
        show_something_else(connected)
        # The shell's answer comes after what the video would have sent.
        assert "com.android.settings" in (await connected.shell("dumpsys window")).text
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await video.pictures.get()
        connected.userland.faults.end(kind)
        assert await video.next()


async def test_a_frozen_screen_is_one_picture_to_every_way_of_looking(connected: Connected) -> None:
    before = await connected("exec-out", "screencap", "-p")
    raw_before = await connected("exec-out", "screencap")
    connected.host.fault(connected.serial, FaultKind.FROZEN_SCREEN)
    show_something_else(connected)
    await connected.phone.animations.wait_idle()
    assert (await connected("exec-out", "screencap", "-p")).out == before.out
    assert (await connected("exec-out", "screencap")).out == raw_before.out
    # Touches and dumps go on: only pictures are frozen.
    assert "com.android.settings" in (await connected.shell("uiautomator dump /dev/tty")).text
    connected.userland.faults.end(FaultKind.FROZEN_SCREEN)
    assert (await connected("exec-out", "screencap", "-p")).out != before.out


async def test_captures_are_black_at_once_though_the_screen_did_not_change(
    connected: Connected, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The minute of the status bar may not change between two captures.
    monkeypatch.setattr(connected.phone, "_clock", lambda: NOON)
    before = await connected("exec-out", "screencap")
    await connected("exec-out", "screencap", "-p")
    connected.host.fault(connected.serial, FaultKind.BLACK_CAPTURE)
    black = await connected("exec-out", "screencap")
    assert set(black.out[16::4]) == {0} and set(before.out[16::4]) != {0}
    png = await connected("exec-out", "screencap", "-p")
    assert len(png.out) < 100_000
    connected.userland.faults.end(FaultKind.BLACK_CAPTURE)
    assert (await connected("exec-out", "screencap")).out == before.out


async def test_an_unauthorized_phone_refuses_until_the_fault_ends(connected: Connected) -> None:
    connected.host.fault(connected.serial, FaultKind.UNAUTHORIZED)
    await connected.adb("disconnect", connected.serial)
    connecting = asyncio.create_task(connected.adb("connect", connected.serial))
    async with asyncio.timeout(30):
        while "unauthorized" not in (await connected.adb("devices")).text:
            await asyncio.sleep(0.02)
    said = await connected.shell("echo x")
    assert said.status == 1 and b"unauthorized" in said.err
    connected.userland.faults.end(FaultKind.UNAUTHORIZED)
    await connecting
    await connected.adb("disconnect", connected.serial)
    await connected.adb.connect(connected.serial)
    assert (await connected.shell("echo x")).text == "x\n"


async def test_a_dead_battery_is_charged_and_booted_anew_when_the_fault_ends(
    connected: Connected,
) -> None:
    boot = connected.userland.boot.boot_id
    connected.host.fault(connected.serial, FaultKind.BATTERY_DEATH)
    assert (await connected.shell("echo x")).status == 1
    connected.userland.faults.end(FaultKind.BATTERY_DEATH)
    await connected.served.rebooted()
    await connected.adb("disconnect", connected.serial)
    await connected.adb.connect(connected.serial)
    assert connected.userland.boot.boot_id != boot
    assert "level: 15" in (await connected.shell("dumpsys battery")).text


async def test_a_host_closes_while_a_phone_is_dead(connected: Connected) -> None:
    connected.host.fault(connected.serial, FaultKind.BATTERY_DEATH)
    await connected.host.close()
    assert connected.host.serials == []


async def test_an_app_crashes_once_and_a_dialog_says_so(connected: Connected) -> None:
    show_something_else(connected)
    connected.host.fault(connected.serial, FaultKind.APP_CRASH)
    await connected.phone.animations.wait_idle()
    dump = (await connected.shell("uiautomator dump /dev/tty")).text
    assert "Settings keeps stopping" in dump or "Settings has stopped" in dump
    assert not connected.userland.faults.active()


async def test_shell_commands_begin_when_a_hung_shell_is_over(connected: Connected) -> None:
    connected.host.fault(connected.serial, FaultKind.HUNG_SHELL, duration_s=0.4)
    loop = asyncio.get_running_loop()
    started = loop.time()
    assert (await connected.shell("echo x")).text == "x\n"
    assert loop.time() - started >= 0.35
