"""Frames in shared memory: never torn, never copied, never left behind."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from agent.devices.frames.shared_memory import FrameReader, FrameWriter, TornFrameError
from agent.devices.frames.shared_segment import SharedFrameError, remove_abandoned
from agent.errors import UsageError

ROOT = Path(__file__).parents[3]
SHM = Path("/dev/shm")


def flat(value: int, width: int = 8, height: int = 16) -> np.ndarray:
    return np.full((height, width, 3), value, np.uint8)


@pytest.fixture
def writer() -> Iterator[FrameWriter]:
    with FrameWriter(8, 16) as writer:
        yield writer


@contextmanager
def hammer(width: int, height: int) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run a process that writes as fast as it can; returns its frames' address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.devices.frames.hammer", str(width), str(height)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdout.readline().decode().strip(), process
    finally:
        process.stdin.close()
        process.wait(30)
        process.stdout.close()


def test_no_torn_frame_is_ever_read_however_fast_another_process_writes() -> None:
    with hammer(90, 200) as (url, _), FrameReader(url) as reader:
        seen: set[int] = set()
        shapes: set[tuple[int, ...]] = set()
        mapped = overwritten = 0
        deadline = time.monotonic() + 30
        while (len(seen) < 150 or len(shapes) < 2 or not mapped) and time.monotonic() < deadline:
            try:
                frame = reader.copy()
                if frame is not None:
                    assert len(np.unique(frame.pixels)) == 1
                    assert int(frame.pixels[0, 0, 0]) == frame.number % 251
                    assert frame.captured_ms == frame.number
                    seen.add(frame.number)
                    shapes.add(frame.pixels.shape)
                with reader.looking() as view:
                    # Few pixels, for the writer is back here after a tenth of a millisecond.
                    colours = {int(view.pixels[0, 0, 0]), int(view.pixels[-1, -1, -1])}
                mapped += 1
                assert colours == {view.number % 251}
            except TornFrameError:
                overwritten += 1
            except SharedFrameError:
                # The writer had not written anything yet.
                continue
        assert len(seen) >= 150
        assert mapped > 0
        assert shapes == {(200, 90, 3), (90, 200, 3)}


def test_a_mapped_frame_is_the_segment_itself_and_cannot_be_written(writer: FrameWriter) -> None:
    with FrameReader(writer.url) as reader:
        assert reader.newest() is None
        writer.write(flat(1), captured_ms=5)
        frame = reader.newest()
        assert frame is not None
        assert (frame.number, frame.captured_ms, frame.pixels.shape) == (1, 5, (16, 8, 3))
        assert not frame.pixels.flags.owndata
        with pytest.raises(ValueError, match="read-only"):
            frame.pixels[0, 0, 0] = 9
        kept = reader.copy()
        for value in range(2, 6):
            writer.write(flat(value), captured_ms=value)
        # Four writes later the ring has come round: the view has changed, the copy has not.
        assert not reader.is_whole(frame)
        assert kept is not None
        assert set(np.unique(kept.pixels)) == {1}


def test_a_look_that_the_writer_overtook_is_an_error(writer: FrameWriter) -> None:
    with FrameReader(writer.url) as reader:
        with pytest.raises(SharedFrameError, match="No frame was written"), reader.looking():
            pass
        writer.write(flat(1), captured_ms=1)
        with pytest.raises(TornFrameError), reader.looking():
            for value in range(4):
                writer.write(flat(value), captured_ms=1)


def draw_half(writer: FrameWriter) -> None:
    with writer.filling(8, 16, captured_ms=3) as place:
        place[:8] = 3
        place[8:] = flat(3, width=5)


def test_a_frame_is_drawn_where_readers_find_it_and_a_drawing_that_failed_is_never_seen(
    writer: FrameWriter,
) -> None:
    with FrameReader(writer.url) as reader:
        writer.write(flat(1), captured_ms=1)
        with writer.filling(8, 16, captured_ms=2) as place:
            place[...] = 2
            during = reader.newest()
            assert during is not None and during.captured_ms == 1
        after = reader.newest()
        assert after is not None and (after.number, after.captured_ms) == (2, 2)
        assert np.array_equal(after.pixels, flat(2)) and reader.is_whole(after)
        with pytest.raises(ValueError, match="broadcast"):
            draw_half(writer)
        still = reader.copy()
        assert still is not None and still.number == 2
        assert np.array_equal(still.pixels, flat(2))
        writer.write(flat(4), captured_ms=4)
        last = reader.copy()
        assert last is not None and (last.number, last.captured_ms) == (3, 4)
        assert np.array_equal(last.pixels, flat(4))


def test_a_turned_phone_keeps_the_segment_and_a_larger_one_moves_it(writer: FrameWriter) -> None:
    with FrameReader(writer.url) as reader:
        writer.write(flat(1), captured_ms=1)
        before = writer.url
        writer.write(flat(2, width=16, height=8), captured_ms=2)
        assert writer.url == before
        writer.write(flat(3, width=32, height=64), captured_ms=3)
        assert writer.url != before
        frame = reader.newest()
        assert frame is not None
        assert frame.pixels.shape == (64, 32, 3)
        assert frame.number == 3
        with pytest.raises(SharedFrameError, match="no shared frames"):
            FrameReader(before)


def test_a_reader_keeps_its_last_frame_when_the_writer_ends_and_takes_nothing_with_it() -> None:
    writer = FrameWriter(8, 16)
    writer.write(flat(7), captured_ms=1)
    script = (
        "import sys; from agent.devices.frames.shared_memory import FrameReader\n"
        "frame = FrameReader(sys.argv[1]).newest(); print(frame.pixels.sum())"
    )
    for _ in range(2):
        # Were the segment tracked by its readers, the first one's end would remove it.
        done = subprocess.run(
            [sys.executable, "-c", script, writer.url], capture_output=True, cwd=ROOT, check=True
        )
        assert done.stdout.split() == [b"2688"]
        assert done.stderr == b""
    reader = FrameReader(writer.url)
    frame = reader.newest()
    writer.close()
    writer.close()
    reader.close()
    assert frame is not None
    assert frame.pixels.sum() == 2688
    with pytest.raises(SharedFrameError):
        FrameReader(writer.url)


@pytest.mark.skipif(not SHM.is_dir(), reason="only Linux lists its shared memory")
def test_what_a_killed_writer_left_is_readable_until_the_next_writer_sweeps_it() -> None:
    with hammer(90, 200) as (url, process):
        with FrameReader(url) as reader:
            deadline = time.monotonic() + 30
            while reader.newest() is None and time.monotonic() < deadline:
                time.sleep(0.005)
            assert reader.is_written
            process.kill()
            process.wait(30)
            assert not reader.is_written
            frame = reader.copy()
            assert frame is not None
            assert len(np.unique(frame.pixels)) == 1
        # Any process that begins may have swept it by now: another test's, too.
        with FrameWriter(8, 16):
            assert not (SHM / url.removeprefix("shm://")).exists()
    assert remove_abandoned() >= 0


@pytest.mark.parametrize("url", ["shm://", "file:///x", "shm://../etc/passwd"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="not the address"):
        FrameReader(url)


@pytest.mark.skipif(not SHM.is_dir(), reason="only Linux shows shared memory as files")
@pytest.mark.parametrize("content", [b"", b"x" * 10, b"x" * 4096, b"SBFRAME1" + b"\xff" * 4096])
def test_a_segment_that_is_not_ours_is_refused(content: bytes) -> None:
    path = SHM / f"not-ours-{time.time_ns()}"
    path.write_bytes(content)
    try:
        with pytest.raises(SharedFrameError, match="not contain Switchboard's frames"):
            FrameReader(f"shm://{path.name}")
    finally:
        path.unlink()


@pytest.mark.parametrize(("width", "height"), [(0, 5), (5, 0), (20_000, 5)])
def test_a_size_that_no_screen_has_is_refused(width: int, height: int) -> None:
    with pytest.raises(UsageError, match="cannot be shared"):
        FrameWriter(width, height)
