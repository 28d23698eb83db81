"""Who decodes one stream's packets, for whoever gives its pictures to readers.

The protocol, and decoding in threads of this process; in a process of its own it is
`decode_process`. Invariant: pictures come out as they were asked for, the newest only, and one
stream's packets are decoded in order.
"""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

from agent.devices.frames.png import png_of
from agent.devices.frames.subscribers import Size, fit
from agent.devices.scrcpy.decoding.decoder import Decoder, load
from agent.devices.scrcpy.packets import VideoPacket
from agent.errors import DeviceError

_threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="decode")
"""Decoding and scaling leave the interpreter lock: two threads keep two cores busy, no more."""


class DecoderLostError(DeviceError):
    """The process that decodes has ended; what it knew of a stream went with it."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """What came of some packets."""

    pictures: int
    """How many pictures they made; without one the rest says nothing."""
    moved: bool = False
    """Whether the screen changed; true when that was not to be found out."""
    black: bool = False
    scaled: Mapping[Size, bytes] = field(default_factory=dict)
    """RGB, row by row, by width and height in pixels."""


class Pictures(Protocol):
    """One stream, decoded."""

    @property
    def size(self) -> Size | None:
        """Width and height of the newest picture in pixels."""

    @property
    def awaits_key(self) -> bool:
        """Whether nothing can be shown until a key frame comes."""

    @property
    def pictures(self) -> int:
        """How many pictures were decoded."""

    async def decode(
        self,
        packets: Sequence[VideoPacket],
        *,
        left_out: bool,
        compare: bool,
        boxes: Sequence[Size],
        arrived_ms: int,
    ) -> Decoded:
        """Decode packets, and scale the newest picture to fit each box.

        Args:
            packets: in their order.
            left_out: packets before these were dropped.
            compare: find out whether the picture moved.
            boxes: width and height in pixels.
            arrived_ms: when the last packet came, on the wall clock.

        Raises DecoderLostError; then `renew` before anything else.
        """

    async def scaled(self, boxes: Sequence[Size]) -> Mapping[Size, bytes]:
        """Scale the newest picture to fit each box. Raises DecoderLostError, or ValueError while
        there is none.
        """

    async def as_png(self) -> tuple[Size, bytes]:
        """Return the newest picture at its own size, as a PNG. Raises as `scaled` does."""

    async def renew(self) -> None:
        """Begin anew after the decoder was lost: a key frame is awaited.

        Raises DeviceError with the reason when this stream is not to be decoded any more.
        """

    def close(self) -> None:
        """Let go of what the stream took."""


class Decoding(Protocol):
    """What decodes for any number of streams."""

    async def ready(self) -> None:
        """Load what decoding takes; at once when that was done. Raises DeviceError."""

    def pictures(self, serial: str) -> Pictures:
        """Begin a stream of a phone. Made after `ready`."""

    async def close(self) -> None:
        """Let go of everything."""


class ThreadDecoding:
    """Decode in threads of this process."""

    async def ready(self) -> None:
        """Load the decoder's libraries."""
        await asyncio.get_running_loop().run_in_executor(None, load)

    def pictures(self, serial: str) -> "ThreadPictures":
        """Begin a stream."""
        return ThreadPictures()

    async def close(self) -> None:
        """Nothing is held."""


class ThreadPictures:
    """One stream, decoded in threads of this process."""

    def __init__(self) -> None:
        self._decoder = Decoder()

    @property
    def size(self) -> Size | None:
        """Width and height of the newest picture in pixels."""
        return self._decoder.size

    @property
    def awaits_key(self) -> bool:
        """Whether nothing can be shown until a key frame comes."""
        return self._decoder.awaits_key

    @property
    def pictures(self) -> int:
        """How many pictures were decoded."""
        return self._decoder.pictures

    async def decode(
        self,
        packets: Sequence[VideoPacket],
        *,
        left_out: bool,
        compare: bool,
        boxes: Sequence[Size],
        arrived_ms: int,
    ) -> Decoded:
        """Decode packets; see `Pictures`."""
        return await asyncio.get_running_loop().run_in_executor(
            _threads, _decode, self._decoder, packets, left_out, compare, boxes
        )

    async def scaled(self, boxes: Sequence[Size]) -> Mapping[Size, bytes]:
        """Scale the newest picture to fit each box."""
        return await asyncio.get_running_loop().run_in_executor(
            _threads, fitted, self._decoder, boxes
        )

    async def as_png(self) -> tuple[Size, bytes]:
        """Return the newest picture as a PNG."""
        return await asyncio.get_running_loop().run_in_executor(_threads, whole_png, self._decoder)

    async def renew(self) -> None:
        """Begin anew."""
        self._decoder.break_off()

    def close(self) -> None:
        """Nothing is held."""


def fitted(decoder: Decoder, boxes: Sequence[Size]) -> dict[Size, bytes]:
    """Scale the newest picture to fit each box. Blocking; ValueError while there is none."""
    size = decoder.size
    if size is None:
        raise ValueError("There is no picture yet.")
    sizes = tuple({fit(size, box) for box in boxes})
    return dict(zip(sizes, decoder.scaled(sizes), strict=True))


def whole_png(decoder: Decoder) -> tuple[Size, bytes]:
    """Encode the newest picture. Blocking; ValueError while there is none."""
    size = decoder.size
    if size is None:
        raise ValueError("There is no picture yet.")
    (rgb,) = decoder.scaled([size])
    return size, png_of(rgb, size)


def _decode(
    decoder: Decoder,
    packets: Sequence[VideoPacket],
    left_out: bool,
    compare: bool,
    boxes: Sequence[Size],
) -> Decoded:
    if left_out:
        decoder.break_off()
    pictures = decoder.decode(packets)
    if not pictures:
        return Decoded(0)
    scaled = fitted(decoder, boxes)
    return Decoded(pictures, decoder.has_moved() or not compare, decoder.is_black(), scaled)
