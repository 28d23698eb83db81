"""From H.264 packets to pictures at the sizes that are wanted. Blocking; run it in a thread.

Packets carry whole access units, so each is decoded at once and nothing waits in a parser for the
next one. Invariants: only the newest picture is kept; after an error nothing is shown until a key
frame has come; threads take turns, because a frame that two threads scale at once crashes libav.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from agent.devices.frames.png import BLACK_LEVEL
from agent.devices.frames.subscribers import Size
from agent.devices.scrcpy.packets import VideoPacket

if TYPE_CHECKING:
    import numpy as np
    from av import VideoFrame
    from av.video.codeccontext import VideoCodecContext
    from av.video.reformatter import VideoReformatter
    from numpy.typing import NDArray

_IDR_SLICE = 5
_NAL_TYPE = 0x1F
_BLACK_LUMA = 16 + BLACK_LEVEL
_EVERY_PX = 4
_MOVED_LUMA = 24  # More than what encoding the same picture anew changes at any place, of 255.


MOST_SCALERS = 8
_loading = threading.Lock()


def load() -> None:
    """Load the decoder's libraries, which takes a few hundred milliseconds once. Blocking.

    One thread at a time: PyAV's modules import each other in a circle, and two threads that begin
    at different places of it break each other's imports.
    """
    with _loading:
        import_module("numpy")
        import_module("av")


class Decoder:
    """Decode one stream. Made after `load`."""

    def __init__(self) -> None:
        self._turn = threading.RLock()
        self._codec: VideoCodecContext = _new_codec()
        self._config = b""
        self._frame: VideoFrame | None = None
        self._scalers: dict[Size, VideoReformatter] = {}
        """One for each size, the last used last: making one costs several times what it does."""
        self._awaits_key = True
        self._compared: NDArray[np.int16] | None = None
        self.pictures = 0
        """How many pictures were decoded."""

    @property
    def awaits_key(self) -> bool:
        """Whether nothing can be shown until a key frame comes."""
        return self._awaits_key

    @property
    def size(self) -> Size | None:
        """Width and height of the newest picture in pixels."""
        return None if self._frame is None else (self._frame.width, self._frame.height)

    def decode(self, packets: Iterable[VideoPacket]) -> int:
        """Decode packets in order; return how many pictures they made."""
        with self._turn:
            before = self.pictures
            for packet in packets:
                if packet.is_config:
                    self._config = packet.data
                else:
                    self._decode_one(packet)
            return self.pictures - before

    def break_off(self) -> None:
        """Forget what pictures refer to, after packets were left out."""
        with self._turn:
            self._codec = _new_codec()
            self._awaits_key = True

    def scaled(self, sizes: Sequence[Size]) -> list[bytes]:
        """Return the newest picture at each size as RGB bytes, row by row.

        Raises ValueError while there is none.
        """
        with self._turn:
            if self._frame is None:
                raise ValueError("There is no picture yet.")
            return [self._scaled(self._frame, size) for size in sizes]

    def is_black(self) -> bool:
        """Return whether the newest picture is black between the bars at its ends."""
        import numpy as np

        if self._frame is None:
            return False
        plane, height = self._frame.planes[0], self._frame.height
        luma = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)
        middle = luma[height // 6 : max(height - height // 6, 1) : _EVERY_PX, : plane.width]
        return bool(middle.size and middle.max() <= _BLACK_LUMA)

    def has_moved(self) -> bool:
        """Return whether the newest picture differs from the one this was last asked of."""
        import numpy as np

        if self._frame is None:
            return False
        plane = self._frame.planes[0]
        luma = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)
        seen = luma[: self._frame.height : _EVERY_PX, : plane.width : _EVERY_PX].astype(np.int16)
        before, self._compared = self._compared, seen
        if before is None or before.shape != seen.shape:
            return True
        return bool(np.abs(seen - before).max() > _MOVED_LUMA)

    def _decode_one(self, packet: VideoPacket) -> None:
        import av
        from av.error import FFmpegError

        if self._awaits_key and not (packet.is_key or _has_idr(packet.data)):
            return
        data, self._config = self._config + packet.data, b""
        try:
            frames = self._codec.decode(av.Packet(data))
        except FFmpegError:
            # Whatever refers to this picture would be wrong as well.
            self.break_off()
            return
        if frames:
            self._frame = frames[-1]
            self._awaits_key = False
            self.pictures += len(frames)

    def _scaler(self, size: Size) -> VideoReformatter:
        from av.video.reformatter import VideoReformatter

        scaler = self._scalers.pop(size, None) or VideoReformatter()
        self._scalers[size] = scaler
        if len(self._scalers) > MOST_SCALERS:
            del self._scalers[next(iter(self._scalers))]
        return scaler

    def _scaled(self, frame: VideoFrame, size: Size) -> bytes:
        scaler = self._scaler(size)
        # Threads of its own for each picture would cost several times the scaling.
        picture = scaler.reformat(frame, *size, format="rgb24", interpolation="AREA", threads=1)
        plane = picture.planes[0]
        width, row = size[0] * 3, plane.line_size
        pixels = memoryview(plane)
        if row == width:
            return bytes(pixels[: width * size[1]])
        return b"".join(pixels[start : start + width] for start in range(0, row * size[1], row))


def _new_codec() -> VideoCodecContext:
    from av.video.codeccontext import VideoCodecContext

    codec = VideoCodecContext.create("h264", "r")
    assert isinstance(codec, VideoCodecContext)
    # Decoding frames in parallel would keep each back until the next ones have come.
    codec.thread_count = 1
    codec.flags |= 1 << 19  # AV_CODEC_FLAG_LOW_DELAY
    return codec


def _has_idr(data: bytes) -> bool:
    """Return whether an access unit in annex B holds a picture that refers to no other."""
    start = data.find(b"\0\0\1")
    while 0 <= start < len(data) - 3:
        kind = data[start + 3] & _NAL_TYPE
        if kind == _IDR_SLICE:
            return True
        if kind == 1:
            return False
        start = data.find(b"\0\0\1", start + 3)
    return False
