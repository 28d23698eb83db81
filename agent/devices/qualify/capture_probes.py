"""Probe the ways to a picture: `screencap` as PNG and raw, and a scrcpy server's video.

Invariants: each picture is decoded and its time is that of one call; pictures of one screen are
compared, so a way that gives another screen, or black, is seen; a screen that moved meanwhile
proves nothing.
"""

import asyncio
import time

from agent.devices.frames.png import is_black, png_of_raw, scaled_rgb
from agent.devices.frames.raw_screen import read_raw_screen
from agent.devices.passport.passport import Area, CaptureWay, Row
from agent.devices.qualify.phone_parts import PhoneParts
from agent.devices.qualify.probe import Probe, absent, fails, unknown, works
from agent.devices.scrcpy.arguments import SessionOptions
from agent.devices.scrcpy.link import NO_SCID
from agent.devices.scrcpy.packets import VideoPacket, read_video
from agent.devices.scrcpy.server_file import NoServerError
from agent.devices.scrcpy.video_run import open_decoded
from agent.errors import DeviceError
from agent.extras import install, is_installed, missing

_TIMEOUT_S = 8.0
_VIDEO_SIDE_PX = 720
_SMALL = (24, 48)
_ALIKE = 12.0
"""Mean difference of 8-bit samples up to which two small pictures show the same: an encoder's loss
and another way of scaling stay below it, another page does not."""


class CaptureProbes:
    """The probes of one phone's pictures; they are asked in turn."""

    def __init__(self, parts: PhoneParts) -> None:
        self._parts = parts
        self._small: dict[str, bytes] = {}

    def probes(self) -> tuple[Probe, ...]:
        return tuple(
            Probe(Area.CAPTURE, name, _TIMEOUT_S, ask)
            for name, ask in (
                (CaptureWay.SCREENCAP.value, self._screencap),
                ("raw", self._raw),
                (CaptureWay.VIDEO.value, self._video),
                ("agreement", self._agreement),
            )
        )

    async def _screencap(self) -> list[Row]:
        began_s = time.monotonic()
        capture = await self._parts.screencap.capture(timeout_s=_TIMEOUT_S)
        took_ms = _ms(began_s)
        await self._keep(CaptureWay.SCREENCAP, capture.data)
        frame = capture.frame
        what = f"{frame.width_px}×{frame.height_px}, PNG of {len(capture.data) // 1024} KB"
        return [works(Area.CAPTURE, CaptureWay.SCREENCAP, what, took_ms=took_ms)]

    async def _raw(self) -> list[Row]:
        shell = self._parts.shell
        began_s = time.monotonic()
        data = await shell.client.exec(shell.serial, "screencap", timeout_s=_TIMEOUT_S)
        took_ms = _ms(began_s)
        screen = read_raw_screen(shell.serial, data)
        png = await asyncio.to_thread(png_of_raw, screen.pixels, screen.order, screen.size)
        await self._keep("raw", png)
        width, height = screen.size
        what = f"{width}×{height}, {len(data) / 1e6:.1f} MB; sessions take PNGs"
        return [works(Area.CAPTURE, "raw", what, took_ms=took_ms)]

    async def _video(self) -> list[Row]:
        way = CaptureWay.VIDEO
        if not is_installed("video"):
            return [absent(Area.CAPTURE, way, missing("video"), install("video"))]
        link = self._parts.link
        try:
            server = await link.server()
        except NoServerError as error:
            return [absent(Area.CAPTURE, way, error.message.rstrip("."), error.remedy)]
        options = SessionOptions(scid=NO_SCID, control=False, max_size_px=_VIDEO_SIDE_PX)
        began_s = time.monotonic()
        session, pictures = await open_decoded(link.open(options), link.decoding)
        try:
            if session.video is None:
                raise DeviceError(f"{link.serial} was opened without video.", "")
            async for item in read_video(session.ways, session.video.exactly):
                if not isinstance(item, VideoPacket):
                    continue
                decoded = await pictures.decode(
                    [item], left_out=False, compare=False, boxes=(), arrived_ms=0
                )
                if decoded.pictures:
                    break
            took_ms = _ms(began_s)
            (width, height), png = await pictures.as_png()
        finally:
            pictures.close()
            await session.close()
        await self._keep(way, png)
        what = f"a first picture of {width}×{height} by scrcpy {server.ways}"
        return [works(Area.CAPTURE, way, what, took_ms=took_ms)]

    async def _agreement(self) -> list[Row]:
        """Compare what came, with a last `screencap` that shows whether the screen moved."""
        name = "agreement"
        if len(self._small) < 2:
            return [unknown(Area.CAPTURE, name, "there are no two pictures to compare")]
        first = self._small.get(CaptureWay.SCREENCAP)
        if first is not None and is_black(first, _SMALL):
            return [
                unknown(
                    Area.CAPTURE,
                    name,
                    "the pictures are black: the screen is off, or its window forbids pictures",
                    "Wake the phone and leave the app, then try again.",
                )
            ]
        if first is not None:
            again = await self._parts.screencap.capture(timeout_s=_TIMEOUT_S)
            await self._keep("again", again.data)
            if _difference(first, self._small["again"]) > _ALIKE:
                return [unknown(Area.CAPTURE, name, "the screen moved meanwhile")]
        base_name, base = next(iter(self._small.items()))
        other = [way for way, small in self._small.items() if _difference(base, small) > _ALIKE]
        shown = ", ".join(way for way in self._small if way != "again")
        if other:
            detail = f"{' and '.join(other)} shows another screen than {base_name}"
            remedy = "Look at both with `switchboard devices shot`; use the one that is right."
            return [fails(Area.CAPTURE, name, detail, remedy)]
        return [works(Area.CAPTURE, name, f"{shown} show the same screen")]

    async def _keep(self, way: str, png: bytes) -> None:
        (small,) = await asyncio.to_thread(scaled_rgb, self._parts.serial, png, (_SMALL,))
        self._small[str(way)] = small


def _difference(one: bytes, other: bytes) -> float:
    """Return the mean difference of two pictures of the same size, in steps of 8-bit samples."""
    return sum(abs(a - b) for a, b in zip(one, other, strict=True)) / len(one)


def _ms(began_s: float) -> int:
    return max(1, round((time.monotonic() - began_s) * 1000))
