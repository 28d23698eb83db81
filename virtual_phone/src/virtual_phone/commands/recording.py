"""`screenrecord`: the display as a video file, H.264 in MP4 or as a raw stream.

Frames are taken when the screen changes, so a still screen costs nothing; the last one is repeated
at the end to give the video its length.
"""

import asyncio
import io
import time
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from virtual_phone.commands.options import options, whole_number
from virtual_phone.display.frozen_display import shown_scene
from virtual_phone.numbers import is_number
from virtual_phone.server.faults import FaultKind
from virtual_phone.shell.call import Call, CommandError, command

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_SECONDS = 180
MAX_FPS = 30
DEFAULT_BIT_RATE = 20_000_000
_TIME_BASE = Fraction(1, 1_000_000)
USAGE = """Usage: screenrecord [options] <filename>

Android screenrecord v1.3.  Records the device's display to a .mp4 file.

Options:
--size WIDTHxHEIGHT
    Set the video size, e.g. "1280x720".
--bit-rate RATE
    Set the video bit rate, in bits per second.
--time-limit TIME
    Set the maximum recording time, in seconds.  Default is 180.
--output-format FORMAT
    mp4 or h264; with h264 the file name may be - for stdout.
--verbose
    Display interesting information on stdout.
--help
    Show this message."""
_LONG = (
    *("size=", "bit-rate=", "time-limit=", "output-format=", "display-id=", "verbose"),
    *("help", "bugreport", "codec-name=", "persistent-surface", "show-frame-time"),
)


class _Recording:
    """One video being made, in memory."""

    def __init__(self, width: int, height: int, bit_rate: int, form: str) -> None:
        import av

        self._av = av
        self.out = io.BytesIO()
        self._container = av.open(self.out, "w", format=form)
        stream: Any = self._container.add_stream("libx264", rate=MAX_FPS)
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        stream.bit_rate, stream.time_base = bit_rate, _TIME_BASE
        stream.codec_context.time_base = _TIME_BASE
        stream.options = {"preset": "ultrafast", "tune": "zerolatency"}
        self._stream = stream
        self._last_us = -1

    def add(self, picture: "Image", at_us: int) -> None:
        frame = self._av.VideoFrame.from_image(picture)  # type: ignore[no-untyped-call]
        self._last_us = frame.pts = max(at_us, self._last_us + 1)
        frame.time_base = _TIME_BASE
        self._container.mux(self._stream.encode(frame))

    def finish(self) -> bytes:
        """Close the video; return all that `take` has not given."""
        self._container.mux(self._stream.encode(None))
        self._container.close()
        return self.take()

    def take(self) -> bytes:
        """Return what was written since the last time (raw streams)."""
        data = self.out.getvalue()
        self.out.seek(0)
        self.out.truncate()
        return data


@command("screenrecord")
async def screenrecord(call: Call) -> int:
    """Record the display until the time is over or the command is ended."""
    found = options(call, "", long=_LONG)
    if "help" in found or not found.operands:
        raise CommandError(
            USAGE if "help" in found else "Must specify output file (see --help).", 2
        )
    form = found.text("output-format") or "mp4"
    path = found.operands[0]
    if form not in ("mp4", "h264") or (path == "-" and form == "mp4"):
        raise CommandError(
            f"Unknown format '{form}'" if path != "-" else "mp4 cannot go to stdout", 2
        )
    seconds = whole_number(call, found.text("time-limit")) if "time-limit" in found else MAX_SECONDS
    if not 0 < seconds <= MAX_SECONDS:
        raise CommandError(f"Time limit {seconds}s outside acceptable range [1,{MAX_SECONDS}]", 2)
    width, height = _size(call, found.text("size"))
    rate = whole_number(call, found.text("bit-rate")) if "bit-rate" in found else DEFAULT_BIT_RATE
    if not 100_000 <= rate <= 200_000_000:
        raise CommandError(f"Bit rate {rate}bps outside acceptable range [100000,200000000]", 2)
    sink = call.open_sink(path) if path != "-" else call.stdout
    recording = _Recording(width, height, rate, form)
    stream = path == "-"
    try:
        async with asyncio.timeout(seconds):
            await _record(call, recording, width, height, live=stream)
    except TimeoutError:
        pass
    finally:
        await sink.write(recording.finish())
    return 0


def _size(call: Call, text: str) -> tuple[int, int]:
    width, height, _ = call.phone.displays.size(0)
    if text:
        one, cross, two = text.partition("x")
        if not (cross and is_number(one) and is_number(two)) or not (
            16 <= int(one) <= 4096 and 16 <= int(two) <= 4096
        ):
            raise CommandError(f"Invalid size '{text}', must be width x height", 2)
        width, height = int(one), int(two)
    return width & ~1, height & ~1


async def _record(
    call: Call, recording: _Recording, width: int, height: int, *, live: bool
) -> None:
    phone, userland = call.phone, call.userland
    started = time.monotonic()
    picture = await asyncio.to_thread(
        phone.compositor.paint, shown_scene(userland, 0), width, height
    )
    version = phone.compositor.version
    try:
        while True:
            at_us = int((time.monotonic() - started) * 1e6)
            await asyncio.to_thread(recording.add, picture, at_us)
            if live:
                await call.stdout.write(recording.take())
            await asyncio.sleep(1 / MAX_FPS)
            version = await phone.compositor.wait_newer(version)
            await userland.faults.hold(FaultKind.ENCODER_STALL)
            scene = shown_scene(userland, 0)
            picture = await asyncio.to_thread(phone.compositor.paint, scene, width, height)
    finally:
        recording.add(picture, int((time.monotonic() - started) * 1e6))
