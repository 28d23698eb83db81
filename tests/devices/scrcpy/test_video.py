"""Live video of a virtual phone: what readers get, what it is worth, and what follows a failure."""

import asyncio
from collections.abc import AsyncIterator
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from agent.devices.adb_device import AdbDevice
from agent.devices.facts.fact import Fact, Unknown
from agent.devices.frames.feed import FrameFeed
from agent.devices.scrcpy import link, server_file, stream_fit, video_watch
from agent.devices.scrcpy.decoding.decoder import MOST_SCALERS, Decoder
from agent.devices.scrcpy.packets import VideoPacket
from agent.devices.scrcpy.video import VideoFrames
from agent.errors import DeviceError, DeviceTimeoutError
from agent.records import FrameSource, FrameStatus, LiveFrame
from tests.devices.scrcpy.conftest import BOUND_S, Bench
from virtual_phone.scrcpy import server
from virtual_phone.scrcpy.stream import VideoEncoder
from virtual_phone.server.faults import FaultKind


@pytest.fixture
async def feed(bench: Bench) -> AsyncIterator[FrameFeed]:
    """The phone's feed, closed in the end."""
    made = bench.feed()
    yield made
    await made.close()


async def first(
    frames: AsyncIterator[LiveFrame],
    *,
    status: FrameStatus | None = None,
    source: FrameSource | None = None,
    bound_s: float = BOUND_S,
) -> LiveFrame:
    """Read until a frame of this kind comes."""
    async with asyncio.timeout(bound_s):
        async for frame in frames:
            if (status in (None, frame.status)) and (source in (None, frame.source)):
                return frame
    raise AssertionError("the frames ended")


def pixels(frame: LiveFrame) -> np.ndarray[tuple[int, ...], np.dtype[np.int16]]:
    """Return a frame as rows of pixels."""
    shape = (frame.height_px, frame.width_px, 3)
    return np.frombuffer(frame.rgb, np.uint8).reshape(shape).astype(np.int16)


async def test_video_shows_what_screencap_shows_and_comes_to_rest(
    bench: Bench, feed: FrameFeed
) -> None:
    frames = feed.read(width_px=216, height_px=480, max_hz=30)
    frame = await first(frames, status=FrameStatus.STATIC, source=FrameSource.SCRCPY)
    assert (frame.width_px, frame.height_px) == (216, 480)
    capture = await bench.device.capture()
    with Image.open(BytesIO(capture.data)) as image:
        exact = np.asarray(image.convert("RGB").resize((216, 480), Image.Resampling.BOX))
    # Clocks may turn over between the two, so a few pixels may differ by much.
    assert np.abs(pixels(frame) - exact.astype(np.int16)).mean() < 6


async def test_readers_of_every_size_share_one_stream(
    bench: Bench, feed: FrameFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = 0
    serve = server.ServerRun.serve

    async def counted(self: server.ServerRun) -> None:
        nonlocal runs
        runs += 1
        await serve(self)

    monkeypatch.setattr(server.ServerRun, "serve", counted)
    sizes = [(9, 20), (90, 200), (216, 480)]
    large, *small = [feed.read(width_px=w, height_px=h, max_hz=30) for w, h in reversed(sizes)]
    got = [await first(large, source=FrameSource.SCRCPY)]
    got += [await first(frames, source=FrameSource.SCRCPY) for frames in small]
    assert [(frame.width_px, frame.height_px) for frame in reversed(got)] == sizes
    assert runs == 1


async def test_a_larger_reader_gets_a_larger_stream(bench: Bench, feed: FrameFeed) -> None:
    small = feed.read(width_px=90, height_px=200, max_hz=10)
    await first(small, source=FrameSource.SCRCPY)
    large = feed.read(width_px=486, height_px=1080, max_hz=10)
    frame = await first(large, source=FrameSource.SCRCPY)
    assert frame.height_px > 1070, "streams have sides of whole eights"
    await first(small, source=FrameSource.SCRCPY)


async def test_a_stream_becomes_small_again_once_nobody_looks_closely(
    bench: Bench, feed: FrameFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_fit, "SPARE_S", 0.0)
    thumbnail = feed.read(width_px=24, height_px=50, max_hz=5)
    closely = feed.read(width_px=486, height_px=1080, max_hz=30)
    await first(thumbnail, source=FrameSource.SCRCPY)
    assert (await first(closely, source=FrameSource.SCRCPY)).height_px > 1070
    assert isinstance(feed._video, VideoFrames)
    assert feed._video.side_px > 1070
    await closely.aclose()
    async with asyncio.timeout(BOUND_S):
        while not 0 < feed._video.side_px <= 240:
            await anext(thumbnail)


async def test_an_action_shows_at_once_and_is_live(
    bench: Bench, feed: FrameFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = feed.read(width_px=90, height_px=200, max_hz=30)
    before = await first(frames, status=FrameStatus.STATIC)
    stay_live(monkeypatch)
    await bench.device.launch("com.android.settings")
    # The frame before it may be called live too, as the action counts before its picture is here.
    async with asyncio.timeout(BOUND_S):
        frame = await anext(frames)
        while frame.rgb == before.rgb or frame.status is not FrameStatus.LIVE:
            frame = await anext(frames)
    assert frame.source is FrameSource.SCRCPY
    assert frame.captured_ms > before.captured_ms


async def test_a_turned_phone_gives_turned_pictures(bench: Bench, feed: FrameFeed) -> None:
    frames = feed.read(width_px=200, height_px=200, max_hz=30)
    frame = await first(frames, status=FrameStatus.STATIC)
    assert frame.height_px > frame.width_px
    await (await bench.device.control()).rotate()
    async with asyncio.timeout(BOUND_S):
        while frame.height_px > frame.width_px:
            frame = await anext(frames)
    assert frame.source is FrameSource.SCRCPY


async def test_a_secure_window_is_said_and_not_shown_as_a_black_screen(
    bench: Bench, feed: FrameFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    stay_live(monkeypatch)
    frames = feed.read(width_px=90, height_px=200, max_hz=30)
    await first(frames, source=FrameSource.SCRCPY)
    package = next(app.package for app in await bench.device.apps() if "wallet" in app.package)
    await shell(bench.device, f"am start -n {package}/.CardActivity")
    frame = await first(frames, status=FrameStatus.SECURE)
    assert "FLAG_SECURE" in frame.detail
    await shell(bench.device, "input keyevent 3")
    assert (await first(frames, status=FrameStatus.LIVE)).detail == ""


async def test_captures_say_secure_as_well(bench: Bench) -> None:
    package = next(app.package for app in await bench.device.apps() if "wallet" in app.package)
    await shell(bench.device, f"am start -n {package}/.CardActivity")
    feed = bench.feed()
    feed._video = None  # As where video is switched off.
    frames = feed.read(width_px=90, height_px=200, max_hz=30)
    frame = await first(frames, status=FrameStatus.SECURE)
    assert frame.source is FrameSource.CAPTURE
    await feed.close()


async def does_not_say(device: AdbDevice) -> Fact[bool]:
    return Unknown(reason="no flags of the window are printed")


async def cannot_be_asked(device: AdbDevice) -> Fact[bool]:
    raise DeviceError("The phone hangs.")


@pytest.mark.parametrize("is_secure", [does_not_say, cannot_be_asked])
@pytest.mark.parametrize("has_video", [True, False])
async def test_a_black_picture_that_nobody_can_explain_is_not_live(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, is_secure: object, has_video: bool
) -> None:
    monkeypatch.setattr(AdbDevice, "is_secure", is_secure)
    feed = bench.feed()
    if not has_video:
        feed._video = None
    frames = feed.read(width_px=90, height_px=200, max_hz=30)
    source = FrameSource.SCRCPY if has_video else FrameSource.CAPTURE
    await first(frames, source=source)
    package = next(app.package for app in await bench.device.apps() if "wallet" in app.package)
    await shell(bench.device, f"am start -n {package}/.CardActivity")
    frame = await first(frames, status=FrameStatus.UNKNOWN, source=source)
    assert "unknown" in frame.detail
    await shell(bench.device, "input keyevent 3")
    assert (await first(frames, status=FrameStatus.STATIC, source=source)).detail == ""
    await feed.close()


async def test_an_encoder_that_hangs_is_found_out_and_captures_take_over(
    bench: Bench, feed: FrameFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    frames = feed.read(width_px=90, height_px=200, max_hz=30)
    await first(frames, status=FrameStatus.STATIC, source=FrameSource.SCRCPY)
    # Only now: an encoder that is slow to start is none that hangs.
    monkeypatch.setattr(video_watch, "ACTION_GRACE_S", 0.1)
    monkeypatch.setattr(video_watch, "KEY_FRAME_TIMEOUT_S", 0.5)
    bench.fault(FaultKind.ENCODER_STALL)
    await bench.device.launch("com.android.settings")
    feed.wake()
    frame = await first(frames, source=FrameSource.CAPTURE)
    assert "encoder" in frame.detail
    bench.mend()
    monkeypatch.undo()
    feed.retry_video()
    frame = await first(frames, source=FrameSource.SCRCPY)
    assert frame.detail == ""


async def test_a_still_picture_without_proof_is_stale_and_keeps_its_age(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(video_watch, "PROBE_EVERY_S", 0.2)
    monkeypatch.setattr(link.ScrcpyLink, "probe", silent)
    stay_live(monkeypatch)
    feed = bench.feed()
    frames = feed.read(width_px=90, height_px=200, max_hz=30)
    live = await first(frames, status=FrameStatus.LIVE, source=FrameSource.SCRCPY)
    frame = await first(frames, status=FrameStatus.STALE)
    assert frame.rgb
    assert frame.captured_ms >= live.captured_ms
    assert "not answered" in frame.detail
    async with asyncio.timeout(30):
        # A picture that was still on its way is a younger one; without any the age is kept.
        while (later := await first(frames, status=FrameStatus.STALE)).captured_ms > (
            frame.captured_ms
        ):
            frame = later
    assert later.captured_ms == frame.captured_ms
    await feed.close()


async def test_without_a_server_captures_say_why(
    bench: Bench, feed: FrameFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_file, "_installed", lambda: iter(()))
    monkeypatch.setattr(server_file, "_packaged", lambda: None)
    get = bench.phone.properties.get
    monkeypatch.setattr(
        bench.phone.properties,
        "get",
        lambda name, *rest: "" if name == "ro.virtual_phone.scrcpy" else get(name, *rest),
    )
    frames = feed.read(width_px=90, height_px=200, max_hz=30)
    frame = await first(frames, source=FrameSource.CAPTURE)
    assert "no scrcpy server" in frame.detail
    assert "mysc-core" in frame.detail
    assert frame.rgb


# --- the decoder alone ----------


def stream(count: int, size: tuple[int, int] = (96, 200)) -> list[VideoPacket]:
    """Encode pictures of rising brightness: a configuration, a key frame and what refers to it."""
    encoder = VideoEncoder(*size, bit_rate=2_000_000, max_fps=30)
    packets = [VideoPacket(0, encoder.configuration, is_config=True, is_key=False)]
    for number in range(count):
        shade = 20 + number * 10
        for pts, is_key, data in encoder.encode(
            Image.new("RGB", size, (shade,) * 3), number * 33_333
        ):
            packets.append(VideoPacket(pts, data, is_config=False, is_key=is_key))
    return packets


def test_every_packet_gives_its_picture_at_once() -> None:
    decoder = Decoder()
    config, *packets = stream(5)
    assert decoder.decode([config]) == 0
    for number, packet in enumerate(packets):
        assert decoder.decode([packet]) == 1
        (rgb,) = decoder.scaled([(9, 20)])
        assert len(rgb) == 9 * 20 * 3
        assert rgb[270] == pytest.approx(20 + number * 10, abs=6)


def test_after_a_broken_packet_nothing_is_shown_until_a_key_frame() -> None:
    decoder = Decoder()
    decoder.decode(stream(3))
    shown = decoder.scaled([(9, 20)])
    broken = VideoPacket(1, b"\0\0\0\1\x41" + b"\xff" * 40, is_config=False, is_key=False)
    decoder.decode([broken])
    if not decoder.awaits_key:
        decoder.break_off()
    assert decoder.decode(stream(6)[3:]) == 0, "what refers to a lost picture is not shown"
    assert decoder.scaled([(9, 20)]) == shown
    assert decoder.decode(stream(2)) == 2
    assert not decoder.awaits_key


def test_key_frames_are_known_where_no_version_marks_them() -> None:
    decoder = Decoder()
    unmarked = [VideoPacket(one.pts_us, one.data, one.is_config, is_key=False) for one in stream(2)]
    assert decoder.decode(unmarked) == 2


def test_a_new_size_in_the_stream_is_followed() -> None:
    decoder = Decoder()
    decoder.decode(stream(2, (96, 200)))
    decoder.decode(stream(2, (200, 96)))
    assert decoder.size == (200, 96)


def test_a_kept_scaler_gives_what_a_new_one_would() -> None:
    sizes = [(9, 20), (40, 18), *((side, side) for side in range(10, 22)), (9, 20)]
    kept = Decoder()
    for turned in ((96, 200), (200, 96), (96, 200)):
        fresh = Decoder()
        kept.decode(stream(2, turned))
        fresh.decode(stream(2, turned))
        for size in sizes:
            assert kept.scaled([size]) == fresh.scaled([size])
    assert len(kept._scalers) <= MOST_SCALERS


def test_black_between_the_bars_is_black_and_a_moved_picture_is_moved() -> None:
    decoder = Decoder()
    decoder.decode(stream(1))
    assert decoder.has_moved()
    assert not decoder.has_moved()
    assert not decoder.is_black()
    encoder = VideoEncoder(96, 200, bit_rate=2_000_000, max_fps=30)
    picture = Image.new("RGB", (96, 200), (0, 0, 0))
    picture.paste((255, 255, 255), (0, 0, 96, 10))
    config = VideoPacket(0, encoder.configuration, is_config=True, is_key=False)
    frames = [VideoPacket(p, d, False, k) for p, k, d in encoder.encode(picture, 0)]
    decoder.decode([config, *frames])
    assert decoder.is_black()
    assert decoder.has_moved()


def stay_live(monkeypatch: pytest.MonkeyPatch) -> None:
    """Call pictures live for longer than a busy machine may keep a reader from them."""
    monkeypatch.setattr(video_watch, "STATIC_AFTER_S", 10.0)


async def silent(_link: link.ScrcpyLink, timeout_s: float) -> None:
    """Answer as a phone does that answers nothing."""
    raise DeviceTimeoutError(f"It did not answer within {timeout_s:g} s.")


async def shell(device: AdbDevice, command: str) -> None:
    await device._shell.checked(command, 10)
