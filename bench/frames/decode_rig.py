"""The rig of `rig.py` with pictures that are decoded meanwhile, as the console has them.

A program. Streams come from `streams.py`; they are decoded in threads of this process or in the
process of `agent.devices.scrcpy.decoding.decode_process`, by the very feeds that a phone has. The
phones send what they are asked for, or ignore it and send everything at full size and rate, as
encoders that know no `max_fps` do.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from agent.devices.adb.stream import AdbStream
from agent.devices.facts.fact import Fact, Known
from agent.devices.frames.feed import FrameFeed
from agent.devices.protocols import Capture
from agent.devices.scrcpy.arguments import SessionOptions
from agent.devices.scrcpy.decoding.decode_process import DecodeProcess
from agent.devices.scrcpy.decoding.pictures import Decoding, ThreadDecoding
from agent.devices.scrcpy.dialect import dialect
from agent.devices.scrcpy.link import NO_SCID
from agent.devices.scrcpy.session import ScrcpySession
from agent.devices.scrcpy.video import VideoFrames
from agent.errors import DeviceError
from agent.records import LiveFrame
from bench.frames import rig, scenes, streams
from bench.frames.rig import FOCUS, HZ, Rig
from console.frames.wall_feeds import WALL_HZ
from widgets.pictures.frame_view import FrameView


class DecodeRig(Rig):
    """One large picture and a wall, all out of H.264."""

    def __init__(self, told: dict[str, Any]) -> None:
        super().__init__(told)
        self.decoding: Decoding = (
            DecodeProcess() if told["decoding"] == "process" else ThreadDecoding()
        )
        self.newest: dict[str, LiveFrame] = {}
        self.fresh: set[str] = set()
        self.all_seen = asyncio.Event()
        self.thumb_frames = 0
        self.begun_decoder_s = 0.0
        self.begun_thumbs = 0
        self.phones = subprocess.Popen(
            [sys.executable, "-m", "bench.frames.streams"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(rig.__file__).parents[2],
        )

    def _prepared(self, scene: str, columns: int, rows: int) -> list[Any]:
        return []

    def _begin(self) -> None:
        self.run_worker(self._begin_streams())

    async def _begin_streams(self) -> None:
        assert self.phones.stdout is not None
        port = int(await asyncio.to_thread(self.phones.stdout.readline))
        serials = {FOCUS: (self.columns, self.rows * 2)}
        serials |= {f"p{at}": self._tile_px() for at in range(self.thumbs)}
        for number, (serial, box) in enumerate(serials.items()):
            still = self.told["still"] and number % 4
            scene = streams.NAMES.index("static") if still else number % 2
            self.run_worker(self._follow(serial, box, port, scene))
        await self.all_seen.wait()
        super()._begin()

    async def _follow(self, serial: str, box: tuple[int, int], port: int, scene: int) -> None:
        async def opened(options: SessionOptions) -> ScrcpySession:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            asked = self.told["obeys"]
            side_px = (asked and options.max_size_px) or scenes.HEIGHT
            hz = (asked and options.max_fps) or streams.HZ
            writer.write(streams.ASK.pack(scene, min(side_px, scenes.HEIGHT), min(hz, streams.HZ)))
            session = ScrcpySession(serial, dialect(streams.VERSION), options)
            session.video = AdbStream(reader, writer, serial)
            return session

        feed = FrameFeed(
            serial,
            _no_capture,
            lambda: "",
            video=VideoFrames(
                opened,
                _alive,
                _not_secure,
                decoding=self.decoding,
                options=SessionOptions(scid=NO_SCID),
            ),
        )
        max_hz = WALL_HZ if self.told["obeys"] and serial != FOCUS else HZ
        async for frame in feed.read(width_px=box[0], height_px=box[1], max_hz=max_hz):
            if frame.rgb and frame is not self.newest.get(serial):
                self.newest[serial] = frame
                self.fresh.add(serial)
                if len(self.newest) == self.thumbs + 1:
                    self.all_seen.set()

    def _measure(self) -> None:
        super()._measure()
        self.begun_decoder_s, self.begun_thumbs = self._decoder_s(), self.thumb_frames

    def _tick_ours(self) -> bool:
        fresh, self.fresh = self.fresh, set()
        assert isinstance(self.focus_view, FrameView)
        if FOCUS in fresh:
            self.focus_view.show_frame(self.newest[FOCUS])
        if self.wall is not None:
            frames = {serial: self.newest[serial] for serial in fresh if serial != FOCUS}
            self.thumb_frames += len(frames)
            self.wall.show_frames(frames, budget_cells=self.clock.budget_cells(self._driver))
        return FOCUS in fresh

    def _more(self) -> dict[str, float]:
        decoder_s = self._decoder_s() - self.begun_decoder_s
        self.phones.kill()
        return {"decoder_s": decoder_s, "thumb_frames": self.thumb_frames - self.begun_thumbs}

    def _decoder_s(self) -> float:
        """Return the seconds of processor time that the process has taken; Linux alone tells."""
        link = self.decoding.link if isinstance(self.decoding, DecodeProcess) else None
        with suppress(OSError):
            if link is not None:
                stat = Path(f"/proc/{link.pid}/stat").read_text().rpartition(")")[2].split()
                return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")
        return 0.0


async def _alive(_timeout_s: float) -> None:
    return


async def _not_secure() -> Fact[bool]:
    return Known(value=False, line="")


async def _no_capture(_timeout_s: float) -> Capture:
    raise DeviceError("These phones give video alone.", "")


if __name__ == "__main__":
    DecodeRig(json.loads(sys.argv[1])).run()
