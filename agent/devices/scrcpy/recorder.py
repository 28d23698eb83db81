"""Record a phone's video to MP4 as it comes: nothing is decoded or encoded again.

Not live pictures (`video`), and no reader of their stream, which has the size and rate that its
readers ask for, begins anew when those change, and drops what comes too late. Invariants: times are
the phone's own; a picture lasts until the next one, and the last until the recording ends; the file
is whole whenever it is closed, and up to its last second when we are killed, because it is written
in fragments.
"""

import asyncio
import threading
import time
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from agent.devices.scrcpy.arguments import SessionOptions
from agent.devices.scrcpy.decoding.decoder import Decoder, load
from agent.devices.scrcpy.link import NO_SCID, ScrcpyLink
from agent.devices.scrcpy.packets import VideoItem, VideoPacket, VideoSize, read_video
from agent.errors import DeviceError, DeviceLostError, UsageError
from agent.extras import install, is_installed, missing

if TYPE_CHECKING:
    from av.container import OutputContainer
    from av.video.stream import VideoStream

MAX_FPS = 60
BIT_RATE = 8_000_000
_FRAGMENT_US = 1_000_000
_TIME_BASE = Fraction(1, 1_000_000)


@dataclass
class Recorded:
    """What came of a recording."""

    files: list[Path] = field(default_factory=list)
    """In order; a phone that is turned begins another one, because a file has one size."""
    pictures: int = 0
    seconds: float = 0.0
    ended_early: str = ""
    """Why it ended before it was asked to; empty when it did not."""


async def record(
    link: ScrcpyLink, path: Path, *, stop: asyncio.Event, seconds: float | None = None
) -> Recorded:
    """Record until `stop` is set, so many seconds have passed or the phone goes.

    Raises UsageError for a name that is taken or is no MP4, DeviceError when there is no video.
    """
    await asyncio.to_thread(check_name, path)
    await asyncio.to_thread(load)
    options = SessionOptions(scid=NO_SCID, control=False, max_fps=MAX_FPS, bit_rate=BIT_RATE)
    session = await link.open(options)
    recorded = Recorded()
    tape = _Tape(path, recorded)
    stream = session.video
    if stream is None:
        raise DeviceError(f"{link.serial} was opened without video.", "")

    async def receive() -> None:
        async for item in read_video(session.ways, stream.exactly):
            await asyncio.to_thread(tape.add, item)

    receiving = asyncio.create_task(receive(), name=f"record {link.serial}")
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait(
            {receiving, stopping}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED
        )
        if receiving.done():
            receiving.result()
    except DeviceLostError as error:
        recorded.ended_early = error.message
    finally:
        for task in (receiving, stopping):
            task.cancel()
        await asyncio.gather(receiving, stopping, return_exceptions=True)
        await session.close()
        # Also when this is being cancelled: what was recorded is to be playable.
        await asyncio.shield(asyncio.to_thread(tape.close))
    return recorded


def check_name(path: Path) -> None:
    """Raise UsageError for the name of a file that cannot be recorded to. Blocking."""
    if not is_installed("video"):
        raise UsageError(missing("video"), install("video"))
    if path.suffix.lower() != ".mp4":
        raise UsageError(f"{path} is not the name of an MP4 file.", "End it in .mp4.")
    if path.exists():
        raise UsageError(f"{path} already exists.", "Choose another name, or remove it.")
    if not path.absolute().parent.is_dir():
        raise UsageError(f"{path.parent} is not a folder.", "Create it, or choose another folder.")


class _Tape:
    """The file, or files, of one recording. Blocking."""

    def __init__(self, path: Path, recorded: Recorded) -> None:
        self._path = path
        self._recorded = recorded
        # A thread that was not waited for may still be writing when the file is to be finished.
        self._lock = threading.Lock()
        self._config = b""
        self._container: OutputContainer | None = None
        self._stream: VideoStream | None = None
        self._held: VideoPacket | None = None
        self._held_s = 0.0
        self._first_us = 0

    def add(self, item: VideoItem) -> None:
        """Take what comes from the phone."""
        with self._lock:
            self._add(item)

    def close(self) -> None:
        """Finish the file; the last picture lasts until now."""
        with self._lock:
            self._finish()

    def _add(self, item: VideoItem) -> None:
        if isinstance(item, VideoSize):
            # A new size brings a new configuration, in every version.
            return
        if item.is_config:
            # Another configuration belongs to another encoder, of which a file holds one.
            if self._config and item.data != self._config:
                self._finish()
            self._config = item.data
        else:
            self._write_held(item.pts_us)
            self._held, self._held_s = item, time.monotonic()

    def _finish(self) -> None:
        if self._held is not None:
            since_us = int((time.monotonic() - self._held_s) * 1_000_000)
            self._write_held(self._held.pts_us + max(since_us, 1))
        container, self._container = self._container, None
        if container is not None:
            container.close()

    def _write_held(self, until_us: int) -> None:
        """Write the picture before, whose length is known now."""
        import av

        held, self._held = self._held, None
        if held is None:
            return
        starts = self._container is None
        if starts:
            self._open(held)
            self._first_us = held.pts_us
        if self._container is None or self._stream is None:
            return
        # The muxer takes the codec's parameters from the first packet.
        packet = av.Packet(self._config + held.data if held.is_key or starts else held.data)
        packet.stream = self._stream
        packet.time_base = _TIME_BASE
        packet.pts = packet.dts = held.pts_us - self._first_us
        packet.duration = max(until_us - held.pts_us, 1)
        packet.is_keyframe = held.is_key or starts
        self._container.mux(packet)
        self._recorded.pictures += 1
        self._recorded.seconds += packet.duration / 1_000_000

    def _open(self, first: VideoPacket) -> None:
        import av
        from av.video.stream import VideoStream

        config = VideoPacket(0, self._config, is_config=True, is_key=False)
        decoder = Decoder()
        decoder.decode([config, first])
        if decoder.size is None:
            # What refers to pictures before it cannot begin a file.
            return
        number = len(self._recorded.files) + 1
        path = self._path
        if number > 1:
            path = path.with_stem(f"{path.stem}-{number}")
        try:
            self._container = av.open(
                str(path),
                "w",
                format="mp4",
                options={
                    "movflags": "frag_keyframe+delay_moov+default_base_moof",
                    "frag_duration": str(_FRAGMENT_US),
                },
            )
        except OSError as error:
            raise UsageError(
                f"{path} cannot be written: {error.strerror or error}.", "Choose another place."
            ) from error
        width, height = decoder.size
        stream = self._container.add_mux_stream("h264", width=width, height=height)
        assert isinstance(stream, VideoStream)
        stream.time_base = _TIME_BASE
        self._stream = stream
        self._recorded.files.append(path)
