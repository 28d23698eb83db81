"""One stream's packets that are not decoded yet: which are worth it, and when.

Pure: told the time, and no decoder. Invariants: what is taken goes on where the last ended, begins
with a key frame, or says that packets before it are missing; nothing that comes before a newer key
frame is decoded, for nobody would see it; packets wait for a reader's time, for to decode each as
it comes costs a call each; what waits is bounded, and given up rather than shown late.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

from agent.devices.frames.subscribers import Reader
from agent.devices.scrcpy.packets import VideoPacket

MOST_PACKETS = 90
MOST_BYTES = 24 << 20
LONGEST_WAIT_S = 0.1
"""For no reader's sake do packets wait longer: what is known of the stream comes out of them."""
EARLY = 0.5
"""Of a reader's interval: a picture that comes so much too soon is made at once and waits."""


class DecodeBatch(NamedTuple):
    """Packets to decode at once."""

    packets: list[VideoPacket]
    left_out: bool  # Whether packets that these refer to are missing.


class Backlog:
    """What came of one stream and was not decoded."""

    def __init__(self) -> None:
        self._packets: list[VideoPacket] = []
        self._bytes = 0
        self._left_out = False
        self._began_s = 0.0

    def __len__(self) -> int:
        return len(self._packets)

    def put(self, packet: VideoPacket, now_s: float) -> None:
        if not self._packets:
            self._began_s = now_s
        if packet.is_key:
            self._keep_config()
            self._left_out = False
        self._packets.append(packet)
        self._bytes += len(packet.data)
        if len(self._packets) > MOST_PACKETS or self._bytes > MOST_BYTES:
            self._keep_config()
            self._left_out = True

    def take(self) -> DecodeBatch:
        """Return what is to be decoded, and begin anew."""
        taken = DecodeBatch(self._packets, self._left_out)
        self._packets, self._bytes, self._left_out = [], 0, False
        return taken

    def miss(self) -> None:
        """Take note that what comes next refers to what is lost."""
        self._left_out = True

    def wait_s(self, readers: Iterable[Reader], now_s: float) -> float:
        """Return in how many seconds it is time to decode; 0: now; infinite where nothing waits."""
        if not self._packets:
            return math.inf
        times_s = (one.due_s - one.interval_s * EARLY for one in readers)
        return max(min([self._began_s + LONGEST_WAIT_S, *times_s]) - now_s, 0.0)

    def _keep_config(self) -> None:
        """Leave out all but how the next key frame is to be read."""
        self._packets = [one for one in self._packets if one.is_config][-1:]
        self._bytes = sum(len(one.data) for one in self._packets)
