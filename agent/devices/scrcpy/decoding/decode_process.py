"""Decode in a process of its own, so that no picture holds up a key: one process for all phones.

Started when the first picture is wanted, and again when it dies. Where there can be none, threads
of this process decode, and the log says so once. Invariants: a dead process takes no stream with
it, each goes on with its next key frame; a stream whose packets were being decoded each time is
given up, and a process that dies again and again rests.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence

from agent.devices.frames.subscribers import Size
from agent.devices.scrcpy.decoding import decode_wire
from agent.devices.scrcpy.decoding.decode_link import DecodeLink
from agent.devices.scrcpy.decoding.decode_memory import Place
from agent.devices.scrcpy.decoding.pictures import (
    Decoded,
    DecoderLostError,
    Pictures,
    ThreadDecoding,
)
from agent.devices.scrcpy.packets import VideoPacket
from agent.errors import DeviceError

MOST_DEATHS = 4
IN_S = 60.0
"""A process that died so often in so long is not started again until one of its deaths is older."""
_MOST_BROKEN = 2
_KEPT_PLACES = 8

_log = logging.getLogger(__name__)


class DecodeProcess:
    """Decode for any number of streams.

    Args:
        start: starts a process.
        seconds: a monotonic clock.
    """

    def __init__(
        self,
        *,
        start: Callable[[], Awaitable[DecodeLink]] = DecodeLink.start,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._start = start
        self._seconds = seconds
        self._beginning: asyncio.Task[None] | None = None
        self._instead: ThreadDecoding | None = None
        self._died_s: deque[float] = deque(maxlen=MOST_DEATHS)
        self._last_stream = 0
        self._closed = False
        self.link: DecodeLink | None = None
        """The process that decodes; None before the first picture, and where there can be none."""

    async def ready(self) -> None:
        """Have the process running; at once while it is.

        Raises DecoderLostError while it rests.
        """
        if self._beginning is None or self._beginning.done():
            self._beginning = asyncio.create_task(self._begin(), name="begin of the decoder")
        # Who stops waiting leaves the others what they wait for.
        await asyncio.shield(self._beginning)
        if self._instead is not None:
            await self._instead.ready()

    def pictures(self, serial: str) -> Pictures:
        """Begin a stream of a phone. Made after `ready`."""
        if self._instead is not None:
            return self._instead.pictures(serial)
        return ProcessPictures(self, serial)

    def running(self) -> DecodeLink:
        """Return the process, after `ready`. Raises DeviceError when there can be none any more."""
        if self.link is None:
            raise DeviceError(
                "The decoder's process is gone and does not restart.",
                "The video is opened again, and decoded in threads.",
            )
        return self.link

    def new_stream(self) -> int:
        """Return the number of a stream that none had."""
        self._last_stream += 1
        return self._last_stream

    async def close(self) -> None:
        self._closed = True
        if self._beginning is not None:
            await asyncio.wait({self._beginning})
        link, self.link = self.link, None
        if link is not None:
            await link.close()

    async def _begin(self) -> None:
        if self._instead is not None:
            return
        if self.link is not None:
            if not self.link.why_ended:
                return
            self._record_death(self.link)
        if self._closed:
            raise DecoderLostError("The decoder was stopped.", "Start Switchboard again.")
        self._check_rest()
        try:
            self.link = await self._start()
        except (OSError, ValueError, DecoderLostError) as error:
            self._instead = ThreadDecoding()
            _log.warning("Pictures are decoded in threads of this process: %s", error)

    def _record_death(self, link: DecodeLink) -> None:
        self._died_s.append(self._seconds())
        _log.warning("The decoder ended %s; it is started again", link.why_ended)
        self.link = None

    def _check_rest(self) -> None:
        if len(self._died_s) < MOST_DEATHS:
            return
        left_s = self._died_s[0] + IN_S - self._seconds()
        if left_s > 0:
            raise DecoderLostError(
                f"The decoder ended {MOST_DEATHS} times within {IN_S:g} s.",
                f"It is started again in {left_s:.0f} s.",
            )


class ProcessPictures:
    """One stream, decoded by the process."""

    def __init__(self, process: DecodeProcess, serial: str) -> None:
        self._process = process
        self._serial = serial
        self._broken = 0
        self._earlier = 0
        """How many pictures were decoded by processes that are gone."""
        self._drawn = 0
        self.size: Size | None = None
        self.awaits_key = True
        self._places: dict[Size, Place] = {}
        self._link = process.running()
        self._stream = process.new_stream()

    @property
    def pictures(self) -> int:
        """How many pictures were decoded."""
        return self._earlier + self._drawn

    async def decode(
        self,
        packets: Sequence[VideoPacket],
        *,
        left_out: bool,
        compare: bool,
        boxes: Sequence[Size],
        arrived_ms: int,
    ) -> Decoded:
        """Decode packets; see `Pictures`. Raises DeviceError when the process cannot."""
        wants = self._wants(boxes)
        drawn = await self._drawing(
            lambda call: decode_wire.Decode(
                call=call,
                stream=self._stream,
                packets=tuple(packets),
                left_out=left_out,
                compare=compare,
                arrived_ms=arrived_ms,
                wants=wants,
            )
        )
        scaled = self._read(drawn)
        return Decoded(drawn.made, drawn.moved, drawn.black, scaled)

    async def scaled(self, boxes: Sequence[Size]) -> Mapping[Size, bytes]:
        """Scale the newest picture to fit each box. Raises DeviceError when there is none."""
        wants = self._wants(boxes)
        return self._read(
            await self._drawing(lambda call: decode_wire.Scale(call, self._stream, wants))
        )

    async def as_png(self) -> tuple[Size, bytes]:
        """Return the newest picture as a PNG. Raises DeviceError when there is none."""
        answer = await self._call(lambda call: decode_wire.Encode(call, self._stream))
        assert isinstance(answer, decode_wire.Encoded)
        return answer.size, answer.data

    async def renew(self) -> None:
        """Begin anew in the next process; see `Pictures`."""
        if self._link.why_ended and self._stream in self._link.memory.marked():
            self._broken += 1
        if self._broken >= _MOST_BROKEN:
            raise DeviceError(
                f"The video of {self._serial} broke the decoder {self._broken} times.",
                "Pictures are taken by screencap instead.",
            )
        await self._process.ready()
        self._earlier, self._drawn = self.pictures, 0
        self.size, self.awaits_key, self._places = None, True, {}
        self._link = self._process.running()
        self._stream = self._process.new_stream()

    def close(self) -> None:
        """Have the process forget the stream; its places are free once it has."""
        places, self._places = self._places, {}
        link, stream = self._link, self._stream

        def free(answer: asyncio.Future[decode_wire.Answer]) -> None:
            if not answer.cancelled() and answer.exception() is None:
                for place in places.values():
                    link.places.give_back(place)

        link.post(lambda call: decode_wire.Close(call, stream)).add_done_callback(free)

    # --- below ----------

    def _wants(self, boxes: Sequence[Size]) -> tuple[decode_wire.PictureRequest, ...]:
        """Have a place for each box; those that were wanted long ago are given back."""
        if len(self._places) > _KEPT_PLACES:
            for box in self._places.keys() - set(boxes):
                self._link.places.give_back(self._places.pop(box))
        for box in boxes:
            if box not in self._places:
                self._places[box] = self._link.places.take(box)
        return tuple(decode_wire.PictureRequest(box, self._places[box].at) for box in boxes)

    async def _drawing(self, make: Callable[[int], decode_wire.Asked]) -> decode_wire.Drawn:
        drawn = await self._call(make)
        assert isinstance(drawn, decode_wire.Drawn)
        self.size, self.awaits_key, self._drawn = drawn.size, drawn.awaits_key, drawn.pictures
        return drawn

    def _read(self, drawn: decode_wire.Drawn) -> dict[Size, bytes]:
        memory = self._link.memory
        return dict(memory.read(filled.at, filled.number) for filled in drawn.filled)

    async def _call(
        self, make: Callable[[int], decode_wire.Asked]
    ) -> decode_wire.Drawn | decode_wire.Encoded | decode_wire.Closed:
        answer = await self._link.call(make)
        if isinstance(answer, decode_wire.Failed):
            raise DeviceError(
                f"The video of {self._serial} could not be decoded: {answer.why}.",
                "It restarts automatically.",
            )
        return answer
