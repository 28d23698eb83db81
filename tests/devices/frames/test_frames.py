"""Live frames: the newest only, with a status that tells the truth."""

import asyncio
import hashlib
import time
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from PIL import Image

from agent.devices.frames.feed import FrameFeed
from agent.devices.frames.png import png_size, scaled_rgb, turned_png
from agent.devices.frames.subscribers import Reader, reading
from agent.devices.protocols import Capture
from agent.devices.trees.tree_parser import parse_tree
from agent.errors import DeviceError, DeviceLostError, UsageError
from agent.records import Frame, FrameSource, FrameStatus, LiveFrame

DATA = Path(__file__).parent.parent.parent / "data" / "devices"
BOUND_S = 30.0


def png(colour: tuple[int, int, int], size: tuple[int, int] = (90, 200)) -> bytes:
    out = BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    return out.getvalue()


def capture_of(data: bytes) -> Capture:
    width, height = png_size("phone", data)
    digest = hashlib.sha256(data).hexdigest()
    frame = Frame(digest=digest, width_px=width, height_px=height, captured_ms=time.time_ns())
    return Capture(frame=frame, data=data)


class Screen:
    """What a phone shows; a test changes it."""

    def __init__(self) -> None:
        self.data = png((10, 20, 30))
        self.failure: DeviceError | None = None
        self.away = ""
        self.captures = 0
        self.released = asyncio.Event()
        self.released.set()

    async def capture(self, timeout_s: float) -> Capture:
        self.captures += 1
        await asyncio.wait_for(self.released.wait(), timeout_s)
        if self.failure is not None:
            raise self.failure
        return capture_of(self.data)

    def feed(self) -> FrameFeed:
        return FrameFeed("phone", self.capture, lambda: self.away)


async def first_with(feed: FrameFeed, status: FrameStatus) -> LiveFrame:
    async with asyncio.timeout(BOUND_S):
        async for frame in feed.read(width_px=45, height_px=100, max_hz=60):
            if frame.status is status:
                return frame
    raise AssertionError(f"the feed ended without a {status} frame")


async def test_a_picture_is_fitted_into_the_box_with_its_shape_kept() -> None:
    feed = Screen().feed()
    async with asyncio.timeout(BOUND_S):
        frame = await anext(feed.read(width_px=45, height_px=1000, max_hz=10))
    assert (frame.width_px, frame.height_px) == (45, 100)
    assert frame.rgb == bytes((10, 20, 30)) * 45 * 100
    assert frame.status is FrameStatus.LIVE
    await feed.close()


async def test_an_unchanged_screen_is_static_and_not_decoded_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    decoded: list[bytes] = []

    def counting(serial: str, data: bytes, sizes: tuple[tuple[int, int], ...]) -> list[bytes]:
        decoded.append(data)
        return scaled_rgb(serial, data, sizes)

    monkeypatch.setattr("agent.devices.frames.capture_feed.scaled_rgb", counting)
    feed = Screen().feed()
    frame = await first_with(feed, FrameStatus.STATIC)
    assert frame.rgb == bytes((10, 20, 30)) * 45 * 100
    assert len(decoded) == 1
    await feed.close()


async def test_readers_of_every_size_share_one_capture() -> None:
    screen = Screen()
    feed = screen.feed()
    sizes = [(9, 20), (45, 100), (90, 200)]
    readers = [feed.read(width_px=w, height_px=h, max_hz=5) for w, h in sizes]
    async with asyncio.timeout(BOUND_S):
        frames = await asyncio.gather(*(anext(reader) for reader in readers))
    assert [(frame.width_px, frame.height_px) for frame in frames] == sizes
    assert screen.captures <= 3
    await feed.close()


async def test_a_change_after_an_action_shows_without_waiting_out_the_pause() -> None:
    screen = Screen()
    feed = screen.feed()
    reader = feed.read(width_px=9, height_px=20, max_hz=60)
    async with asyncio.timeout(BOUND_S):
        while (await anext(reader)).status is not FrameStatus.STATIC:
            pass
        screen.data = png((200, 0, 0))
        feed.wake()
        async for frame in reader:
            if frame.rgb[:3] == bytes((200, 0, 0)):
                break
    assert frame.status is FrameStatus.LIVE
    await feed.close()


async def test_a_slow_capture_leaves_the_last_picture_stale(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agent.devices.frames.capture_feed.STALE_AFTER_S", 0.05)
    screen = Screen()
    feed = screen.feed()
    reader = feed.read(width_px=9, height_px=20, max_hz=60)
    async with asyncio.timeout(BOUND_S):
        live = await anext(reader)
        screen.released.clear()
        async for frame in reader:
            if frame.status is FrameStatus.STALE:
                break
    assert frame.rgb == live.rgb
    await feed.close()


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (DeviceError("screencap said no.", "Wake it."), FrameStatus.ERROR),
        (DeviceLostError("unplugged.", "Plug it in."), FrameStatus.LOST),
    ],
)
async def test_a_failure_is_told_with_its_reason_and_never_a_blank_picture(
    failure: DeviceError, status: FrameStatus
) -> None:
    screen = Screen()
    screen.failure = failure
    feed = screen.feed()
    frame = await first_with(feed, status)
    assert frame.rgb == b""
    assert failure.message in frame.detail
    await feed.close()


async def test_a_device_that_is_away_is_not_captured_and_comes_back() -> None:
    screen = Screen()
    screen.away = "the phone is gone"
    feed = screen.feed()
    reader = feed.read(width_px=9, height_px=20, max_hz=60)
    async with asyncio.timeout(BOUND_S):
        frame = await anext(reader)
        assert (frame.status, frame.detail) == (FrameStatus.LOST, "the phone is gone")
        assert screen.captures == 0
        screen.away = ""
        feed.wake()
        async for frame in reader:
            if frame.rgb:
                break
    await feed.close()


async def test_a_reader_is_not_served_faster_than_it_asked() -> None:
    screen = Screen()
    feed = screen.feed()
    reader = feed.read(width_px=9, height_px=20, max_hz=20)
    async with asyncio.timeout(BOUND_S):
        await anext(reader)
        started = time.monotonic()
        for shade in range(5):
            screen.data = png((shade, 0, 0))
            feed.wake()
            await anext(reader)
    assert time.monotonic() - started > 5 / 20 * 0.9
    await feed.close()


async def test_a_slow_reader_skips_to_the_newest() -> None:
    screen = Screen()
    feed = screen.feed()
    reader = feed.read(width_px=9, height_px=20, max_hz=60)
    async with asyncio.timeout(BOUND_S):
        await anext(reader)
        for shade in range(1, 4):
            screen.data = png((shade, 0, 0))
            seen = screen.captures
            while screen.captures < seen + 2:
                feed.wake()
                await asyncio.sleep(0.005)
        frame = await anext(reader)
    assert frame.rgb[0] == 3
    await feed.close()


async def test_nothing_is_captured_when_nobody_reads() -> None:
    screen = Screen()
    feed = screen.feed()
    reader = feed.read(width_px=9, height_px=20, max_hz=60)
    async with asyncio.timeout(BOUND_S):
        await anext(reader)
    await reader.aclose()
    assert feed.is_idle


async def test_closing_ends_every_reader() -> None:
    feed = Screen().feed()
    reader = feed.read(width_px=9, height_px=20, max_hz=60)
    async with asyncio.timeout(BOUND_S):
        await anext(reader)
        await feed.close()
        with pytest.raises(StopAsyncIteration):
            while True:
                await anext(reader)


@pytest.mark.parametrize("bad", [(0, 10, 1.0), (10, -1, 1.0), (10, 99999, 1.0), (10, 10, 0.0)])
async def test_impossible_sizes_and_rates_are_refused(bad: tuple[int, int, float]) -> None:
    feed = Screen().feed()
    with pytest.raises(UsageError):
        await anext(feed.read(width_px=bad[0], height_px=bad[1], max_hz=bad[2]))


# --- pictures ----------


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"screencap: permission denied",
        png((1, 2, 3))[:-5],
        png((1, 2, 3))[:20],
        png((1, 2, 3))[:16] + b"\xff" * 8 + png((1, 2, 3))[24:],
    ],
)
def test_what_is_no_whole_picture_is_an_error(data: bytes) -> None:
    with pytest.raises(DeviceError, match="phone"):
        png_size("phone", data)


def test_a_picture_with_broken_pixels_is_an_error() -> None:
    data = bytearray(png((1, 2, 3)))
    data[45:60] = b"\0" * 15
    with pytest.raises(DeviceError, match="decoded"):
        scaled_rgb("phone", bytes(data), ((9, 20),))


def test_a_picture_whose_alpha_is_zero_everywhere_keeps_its_colours() -> None:
    data = (DATA / "android-4.4.2/calculator_landscape.png").read_bytes()
    (rgb,) = scaled_rgb("phone", data, ((48, 80),))
    assert len(rgb) == 48 * 80 * 3
    assert len(set(rgb)) > 20


def test_an_old_phones_turned_picture_is_turned_back() -> None:
    data = turned_png("phone", (DATA / "android-4.4.2/calculator_landscape.png").read_bytes(), 1)
    assert png_size("phone", data) == (800, 480)
    picture = Image.open(BytesIO(data)).convert("L")
    nodes = parse_tree((DATA / "android-4.4.2/calculator_landscape.xml").read_bytes(), (480, 800))
    (seven,) = [node.bounds for node in nodes if node.text == "7"]
    key = picture.crop((seven.left * 800, seven.top * 480, seven.right * 800, seven.bottom * 480))
    assert max(key.tobytes()) > 200 > 100 > min(key.tobytes())
    # The tree ends at 737 pixels: beyond stands the bar of buttons, black at its upper end.
    assert max(picture.crop((745, 0, 800, 60)).tobytes()) == 0


class Seconds:
    """A clock that only sleeping moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        self.slept = 0.0
        # Not the module's own function: the event loop reads that clock as well.
        clock = SimpleNamespace(monotonic=lambda: self.now)
        monkeypatch.setattr("agent.devices.frames.subscribers.time", clock)
        monkeypatch.setattr("agent.devices.frames.subscribers.asyncio.sleep", self.sleep)

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept += seconds


PICTURE = LiveFrame(
    serial="phone",
    width_px=1,
    height_px=1,
    rgb=b"rgb",
    captured_ms=1,
    source=FrameSource.SCRCPY,
    status=FrameStatus.LIVE,
)


async def test_a_frame_that_came_late_does_not_put_off_the_next_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seconds, reader = Seconds(monkeypatch), Reader.checked(9, 20, 30)
    frames = reading(reader, lambda: True)
    for number in range(30):
        late_s = (0.0, 0.008, 0.003)[number % 3]
        seconds.now = max(seconds.now, 100 + number / 30 + late_s)
        reader.give(PICTURE)
        assert await anext(frames) is PICTURE
    assert seconds.slept < 0.001


async def test_a_reader_takes_on_average_no_more_frames_than_it_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seconds, reader = Seconds(monkeypatch), Reader.checked(9, 20, 10)
    frames = reading(reader, lambda: True)
    taken = 0
    while seconds.now < 110:
        reader.give(PICTURE)
        await anext(frames)
        taken += 1
        # It looks away for a while, and may not make up for that.
        seconds.now += 2.0 if taken == 20 else 0.001
    assert 75 <= taken <= 85
