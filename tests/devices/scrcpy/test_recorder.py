"""Recordings play, last as long as they should, and end well however they end."""

import asyncio
from pathlib import Path

import av
import pytest

from agent.devices.scrcpy.link import ScrcpyLink, ScrcpySettings
from agent.devices.scrcpy.recorder import record
from agent.devices.shell.phone_shell import PhoneShell
from agent.errors import UsageError
from tests.devices.scrcpy.conftest import BOUND_S, Bench
from virtual_phone.server.faults import FaultKind


@pytest.fixture
def link(bench: Bench) -> ScrcpyLink:
    """The phone's way to scrcpy."""
    shell: PhoneShell = bench.device._shell
    return ScrcpyLink(shell, ScrcpySettings())


def played(path: Path) -> tuple[int, float, tuple[int, int]]:
    """Decode a whole file: how many pictures, how many seconds, which size."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        frames = list(container.decode(stream))
        assert container.duration is not None
        return len(frames), container.duration / 1_000_000, (frames[0].width, frames[0].height)


async def test_a_recording_plays_as_long_as_it_took(
    bench: Bench, link: ScrcpyLink, tmp_path: Path
) -> None:
    path = tmp_path / "walk.mp4"
    stop = asyncio.Event()
    recording = asyncio.create_task(record(link, path, stop=stop))
    async with asyncio.timeout(BOUND_S):
        while not path.exists():
            await bench.device.launch("com.android.settings")
            await bench.device.key("HOME")
    stop.set()
    recorded = await recording
    pictures, seconds, size = played(path)
    assert recorded.files == [path]
    assert pictures == recorded.pictures > 1
    assert seconds == pytest.approx(recorded.seconds, abs=0.1)
    assert size == (1080, 2400)


async def test_a_turned_phone_begins_another_file(
    bench: Bench, link: ScrcpyLink, tmp_path: Path
) -> None:
    path = tmp_path / "turn.mp4"
    stop = asyncio.Event()
    recording = asyncio.create_task(record(link, path, stop=stop))
    control = await bench.device.control()
    second = tmp_path / "turn-2.mp4"
    async with asyncio.timeout(BOUND_S):
        while not path.exists():
            await bench.device.launch("com.android.settings")
            await bench.device.key("HOME")
        await control.rotate()
        while not second.exists():
            await bench.device.launch("com.android.settings")
            await bench.device.key("HOME")
    stop.set()
    recorded = await recording
    assert recorded.files == [path, second]
    assert played(path)[2] == (1080, 2400)
    assert played(second)[2] == (2400, 1080)


async def test_a_recording_that_is_cut_off_still_plays(
    bench: Bench, link: ScrcpyLink, tmp_path: Path
) -> None:
    path = tmp_path / "cut.mp4"
    recording = asyncio.create_task(record(link, path, stop=asyncio.Event()))
    async with asyncio.timeout(BOUND_S):
        while not path.exists():
            await bench.device.launch("com.android.settings")
            await bench.device.key("HOME")
        bench.fault(FaultKind.DISCONNECT)
        recorded = await recording
    bench.mend()
    assert recorded.ended_early
    assert played(path)[0] == recorded.pictures


async def test_a_file_that_is_there_is_not_written_over(link: ScrcpyLink, tmp_path: Path) -> None:
    taken = tmp_path / "mine.mp4"
    taken.write_bytes(b"mine")
    for path in (taken, tmp_path / "x.mkv", tmp_path / "no" / "x.mp4"):
        with pytest.raises(UsageError):
            await record(link, path, stop=asyncio.Event())
    assert taken.read_bytes() == b"mine"
