"""The process that decodes: the pictures it gives, how it ends, and what goes on without it."""

import asyncio
import logging
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from functools import partial

import numpy as np
import pytest
from PIL import Image

from agent.devices.resources.processes import start_mark, wait_gone
from agent.devices.scrcpy.decoding import decode_process
from agent.devices.scrcpy.decoding.decode_link import DecodeLink
from agent.devices.scrcpy.decoding.decode_process import DecodeProcess, ProcessPictures
from agent.devices.scrcpy.decoding.decode_wire import Close
from agent.devices.scrcpy.decoding.pictures import DecoderLostError, Pictures, ThreadDecoding
from agent.devices.scrcpy.packets import VideoPacket
from agent.errors import DeviceError
from agent.records import FrameSource, FrameStatus, LiveFrame
from tests.devices.scrcpy.conftest import BOUND_S, Bench
from virtual_phone.scrcpy import server
from virtual_phone.scrcpy.stream import VideoEncoder

SIZE = (96, 200)
BOXES = ((20, 44), (48, 100), (200, 48))


def stream(count: int) -> list[VideoPacket]:
    """Encode pictures that brighten, the configuration first."""
    encoder = VideoEncoder(*SIZE, bit_rate=1_000_000, max_fps=30)
    packets = [VideoPacket(0, encoder.configuration, is_config=True, is_key=False)]
    for number in range(count):
        image = Image.new("RGB", SIZE, (number * 12 % 256, 40, 200))
        for pts, is_key, data in encoder.encode(image, number * 33_000):
            packets.append(VideoPacket(pts, data, is_config=False, is_key=is_key))
    return packets


async def decode(pictures: Pictures, packets: list[VideoPacket]) -> dict[tuple[int, int], bytes]:
    """Decode packets at once and give the newest picture at every size."""
    decoded = await pictures.decode(
        packets, left_out=False, compare=False, boxes=BOXES, arrived_ms=1
    )
    return dict(decoded.scaled)


@pytest.fixture
async def process() -> AsyncIterator[DecodeProcess]:
    made = DecodeProcess()
    await made.ready()
    yield made
    await made.close()


def running(process: DecodeProcess) -> DecodeLink:
    assert process.link is not None
    return process.link


async def kill(link: DecodeLink) -> None:
    """Kill a process and wait until it is known to be gone."""
    os.kill(link.pid, signal.SIGKILL)
    async with asyncio.timeout(BOUND_S):
        while not link.why_ended:
            await asyncio.sleep(0.01)


# --- pictures ----------


async def test_the_process_gives_the_pictures_that_threads_give(process: DecodeProcess) -> None:
    packets, threads = stream(12), ThreadDecoding()
    await threads.ready()
    there, here = process.pictures("phone"), threads.pictures("phone")
    for one in packets:
        assert await decode(there, [one]) == await decode(here, [one])
        assert (there.size, there.pictures, there.awaits_key) == (
            here.size,
            here.pictures,
            here.awaits_key,
        )
    assert there.pictures == 12
    assert await there.as_png() == await here.as_png()
    small = ((10, 22),)
    assert await there.scaled(small) == await here.scaled(small)


async def test_many_streams_are_decoded_at_once_and_none_gets_anothers_picture(
    process: DecodeProcess,
) -> None:
    streams = [process.pictures(f"phone {number}") for number in range(9)]
    packets = stream(9)

    async def follow(number: int, pictures: Pictures) -> float:
        scaled: dict[tuple[int, int], bytes] = {}
        for one in packets[: number + 2]:
            scaled = await decode(pictures, [one]) or scaled
        return float(np.frombuffer(scaled[20, 42], np.uint8)[::3].mean())

    reds = await asyncio.gather(*(follow(number, one) for number, one in enumerate(streams)))
    assert [round(red / 12) for red in reds] == list(range(9))


async def test_places_in_memory_are_used_again_once_a_stream_is_closed(
    process: DecodeProcess,
) -> None:
    link = running(process)
    packets = stream(2)
    ends = set()
    for _ in range(5):
        pictures = process.pictures("phone")
        assert isinstance(pictures, ProcessPictures)
        await decode(pictures, packets)
        ends.add(max(place.at for place in pictures._places.values()))
        stream_number = pictures._stream
        pictures.close()

        # A stream's calls are answered in order, so its close is over when this one is.
        await link.call(partial(Close, stream=stream_number))
        await asyncio.sleep(0)
    # One picture or two are kept at once; no round takes a third place.
    assert len(ends) <= 2


async def test_what_one_stream_may_not_ask_leaves_the_others_alone(process: DecodeProcess) -> None:
    good, empty = process.pictures("good"), process.pictures("empty")
    await decode(good, stream(2))
    with pytest.raises(DeviceError, match="no picture yet"):
        await empty.as_png()
    assert (await good.as_png())[0] == SIZE


async def test_who_gave_up_waiting_for_a_whole_picture_holds_up_nobody(
    process: DecodeProcess,
) -> None:
    pictures = process.pictures("phone")
    await decode(pictures, stream(2))
    for _ in range(200):
        asking = asyncio.ensure_future(pictures.as_png())
        await asyncio.sleep(0)
        asking.cancel()
        await asyncio.wait({asking})
    assert (await pictures.as_png())[0] == SIZE
    assert not running(process)._calls, "each was answered, though nobody listened any more"


# --- its end ----------


async def test_a_killed_process_is_said_and_another_goes_on_with_the_next_key_frame(
    process: DecodeProcess,
) -> None:
    pictures = process.pictures("phone")
    packets = stream(4)
    before = await decode(pictures, packets)
    first = running(process)
    await kill(first)
    with pytest.raises(DecoderLostError, match="ended by SIGKILL"):
        await pictures.scaled(BOXES)
    await pictures.renew()
    assert running(process).pid != first.pid
    assert pictures.awaits_key and pictures.size is None
    assert await decode(pictures, packets) == before
    assert pictures.pictures == 8, "counted on, so that no reader takes a picture for an old one"


async def test_calls_on_a_socket_that_has_died_hear_of_the_end_and_do_not_flood_the_log(
    process: DecodeProcess, caplog: pytest.LogCaptureFixture
) -> None:
    link = running(process)
    mark = start_mark(link.pid)
    os.kill(link.pid, signal.SIGKILL)
    # Not in a thread: the loop is not to see the end before the calls.
    assert wait_gone(link.pid, mark, BOUND_S)
    with caplog.at_level(logging.WARNING, logger="asyncio"):
        calls = [link.post(partial(Close, stream=1)) for _ in range(50)]
        ends = await asyncio.gather(*calls, return_exceptions=True)
    assert {type(end) for end in ends} == {DecoderLostError}
    assert [one.message for one in caplog.records if one.name == "asyncio"] == []


async def test_calls_that_wait_hear_of_the_end(process: DecodeProcess) -> None:
    link = running(process)
    os.kill(link.pid, signal.SIGSTOP)
    waiting = [link.post(lambda call: Close(call, 1)) for _ in range(3)]
    os.kill(link.pid, signal.SIGKILL)
    done, _ = await asyncio.wait(waiting, timeout=BOUND_S)
    assert {type(one.exception()) for one in done} == {DecoderLostError}
    assert len(done) == 3


async def test_a_process_that_hangs_is_ended(
    process: DecodeProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.devices.scrcpy.decoding.decode_link.ANSWER_TIMEOUT_S", 0.2)
    link, pictures = running(process), process.pictures("phone")
    os.kill(link.pid, signal.SIGSTOP)
    with pytest.raises(DecoderLostError, match="had not answered"):
        await pictures.as_png()
    await pictures.renew()
    assert running(process).pid != link.pid


async def test_a_stream_that_breaks_the_decoder_twice_is_given_up_and_no_other(
    process: DecodeProcess,
) -> None:
    hostile, other = process.pictures("hostile"), process.pictures("other")
    assert isinstance(hostile, ProcessPictures)
    for last in (False, True):
        # As it stands in memory while a thread is in the middle of its packets.
        running(process).memory.mark(0, hostile._stream)
        await kill(running(process))
        await other.renew()
        if last:
            with pytest.raises(DeviceError, match="broke the decoder 2 times"):
                await hostile.renew()
        else:
            await hostile.renew()
    assert await decode(other, stream(2))


async def test_a_process_that_dies_again_and_again_rests() -> None:
    now_s = 100.0

    class Dead:
        why_ended = "by SIGSEGV"

        async def close(self) -> None:
            return

    async def start() -> DecodeLink:
        return Dead()  # type: ignore[return-value]

    process = DecodeProcess(start=start, seconds=lambda: now_s)
    for _ in range(decode_process.MOST_DEATHS):
        await process.ready()
    with pytest.raises(DecoderLostError, match="times within 60 s") as refused:
        await process.ready()
    assert "in 60 s" in refused.value.remedy
    now_s += decode_process.IN_S
    await process.ready()
    await process.close()


async def test_where_there_can_be_no_process_threads_decode_and_the_log_says_so_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def refused() -> DecodeLink:
        raise OSError(12, "Cannot allocate memory")

    process = DecodeProcess(start=refused)
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            await process.ready()
            pictures = process.pictures("phone")
            assert await decode(pictures, stream(2))
    said = [one.getMessage() for one in caplog.records if one.name == decode_process.__name__]
    assert len(said) == 1 and "Cannot allocate memory" in said[0]
    await process.close()


async def test_a_program_that_cannot_decode_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "agent.devices.scrcpy.decoding.decode_link._PROGRAM", "raise SystemExit('no such library')"
    )
    process = DecodeProcess()
    await process.ready()
    assert process.link is None
    assert await decode(process.pictures("phone"), stream(2))
    await process.close()


def test_the_process_ends_when_the_core_is_killed() -> None:
    core = (
        "import asyncio\n"
        "from agent.devices.scrcpy.decoding.decode_process import DecodeProcess\n"
        "async def main():\n"
        "    process = DecodeProcess()\n"
        "    await process.ready()\n"
        "    print(process.link.pid, flush=True)\n"
        "    await asyncio.sleep(600)\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen([sys.executable, "-c", core], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        mark = start_mark(pid)
        assert mark
        parent.kill()
    assert wait_gone(pid, mark, BOUND_S)


# --- a phone ----------


async def test_a_phone_goes_on_in_the_same_stream_when_the_decoder_is_killed(
    bench: Bench, process: DecodeProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = 0
    serve = server.ServerRun.serve

    async def counted(self: server.ServerRun) -> None:
        nonlocal runs
        runs += 1
        await serve(self)

    monkeypatch.setattr(server.ServerRun, "serve", counted)
    link = bench.device._scrcpy
    assert link is not None
    link.decoding = process
    feed = bench.feed()
    frames = feed.read(width_px=90, height_px=200, max_hz=30)
    seen: list[LiveFrame] = []

    async def until(status: FrameStatus) -> LiveFrame:
        async with asyncio.timeout(BOUND_S):
            async for frame in frames:
                seen.append(frame)
                if frame.status is status and frame.source is FrameSource.SCRCPY:
                    return frame
        raise AssertionError("the frames ended")

    before = await until(FrameStatus.STATIC)
    os.kill(running(process).pid, signal.SIGKILL)
    # Something new on the screen, which only a decoder that lives can show.
    launching = asyncio.create_task(bench.device.launch("com.android.settings"))
    stale = await until(FrameStatus.STALE)
    assert "The decoder ended by SIGKILL" in stale.detail
    assert stale.rgb, "the last picture stays"
    after = await until(FrameStatus.STATIC)
    while after.rgb == before.rgb:
        after = await until(FrameStatus.STATIC)
    assert after.detail == ""
    assert {frame.source for frame in seen[seen.index(before) :]} == {FrameSource.SCRCPY}
    assert runs == 1
    await launching
    await feed.close()
