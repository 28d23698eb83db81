"""More moving phones than can be decoded: who keeps the rate, counted in pictures.

The decoder's own program decodes real H.264; time is what it has decoded, so that no machine is too
slow or too fast for what is asserted. A tick is a thirtieth of a second.
"""

import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import pytest

from agent.devices.scrcpy.backlog import Backlog
from agent.devices.scrcpy.decoding.decode_memory import PictureMemory, Place, Places, new_file
from agent.devices.scrcpy.decoding.decode_program import DecodeProgram
from agent.devices.scrcpy.decoding.decode_wire import (
    LENGTH_BYTES,
    Decode,
    Drawn,
    PictureRequest,
    said_decoder,
)
from agent.devices.scrcpy.decoding.decoder import Decoder, load
from agent.devices.scrcpy.packets import VideoPacket
from tests.devices.scrcpy.test_decode_process import stream

SMALL = 64
KEY_EVERY = 30
LOOKED_AT = 1
LARGE_BOX, SMALL_BOX = (90, 200), (12, 26)


@dataclass
class Phone:
    """One stream as the core has it: what came, and the call that is under way."""

    number: int
    box: tuple[int, int]
    place: Place
    backlog: Backlog = field(default_factory=Backlog)
    sent: int = 0
    is_asked: bool = False
    shown: int = 0
    latest: int = 0  # In how many ticks the slowest answer came.
    asked_at: int = 0


class Wall:
    """A decoder that gets through so many packets a tick, and phones that send one each."""

    def __init__(self, memory: int, capacity: int, monkeypatch: pytest.MonkeyPatch) -> None:
        ours, theirs = socket.socketpair()
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        ours.setblocking(False)
        self.link, self._theirs = ours, theirs
        self.program = DecodeProgram(theirs, PictureMemory(memory))
        self.capacity = capacity
        self.decoded = self.ticks = 0
        places = Places()
        packets = stream(KEY_EVERY)
        self.packets = packets[:1], packets[1:]
        self.phones = {
            number: Phone(number, box, places.take(box))
            for number in range(LOOKED_AT, LOOKED_AT + SMALL + 1)
            for box in (LARGE_BOX if number == LOOKED_AT else SMALL_BOX,)
        }
        decode = Decoder.decode

        def counted(decoder: Decoder, these: Iterable[VideoPacket]) -> int:
            made = decode(decoder, these)
            self._spend()
            return made

        monkeypatch.setattr(Decoder, "decode", counted)

    def run(self, ticks: int) -> None:
        """Let so much time pass."""
        self._tick()
        while self.ticks < ticks:
            self.program.turn(0)
            self._hear()

    def close(self) -> None:
        self.link.close()
        self._theirs.close()

    def _spend(self) -> None:
        self.decoded += 1
        if self.decoded % self.capacity == 0:
            self._tick()

    def _tick(self) -> None:
        """Have every phone send one picture, the one that is looked at last of all."""
        self.ticks += 1
        self._hear()
        config, pictures = self.packets
        for phone in reversed(self.phones.values()):
            at = phone.sent % KEY_EVERY
            for one in (*(config if at == 0 else ()), pictures[at]):
                phone.backlog.put(one, 0.0)
            phone.sent += 1
            self._ask(phone)

    def _ask(self, phone: Phone) -> None:
        if phone.is_asked or not len(phone.backlog):
            return
        packets, left_out = phone.backlog.take()
        phone.is_asked, phone.asked_at = True, self.ticks
        want = PictureRequest(phone.box, phone.place.at)
        self.program.ask(
            Decode(phone.number, phone.number, tuple(packets), left_out, False, 1, (want,))
        )

    def _hear(self) -> None:
        for drawn in self._answers():
            phone = self.phones[drawn.call]
            phone.is_asked = False
            phone.shown += drawn.made > 0
            phone.latest = max(phone.latest, self.ticks - phone.asked_at)
            self._ask(phone)

    def _answers(self) -> Iterator[Drawn]:
        while True:
            try:
                head = self.link.recv(LENGTH_BYTES)
            except BlockingIOError:
                return
            said = said_decoder.decode(self.link.recv(int.from_bytes(head)))
            assert isinstance(said, Drawn), said
            yield said


@pytest.fixture
def memory() -> int:
    load()
    return new_file()


@pytest.mark.parametrize("capacity", [8, 20, 40])
def test_what_is_looked_at_keeps_its_rate_and_the_small_ones_share_the_rest(
    memory: int, capacity: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall = Wall(memory, capacity, monkeypatch)
    try:
        wall.run(120)
        looked_at, *small = wall.phones.values()
        assert looked_at.shown >= 120 - 2, "one a tick, though each tick brings 65"
        assert looked_at.latest <= 1
        shown = [phone.shown for phone in small]
        assert min(shown) > 0
        assert max(shown) - min(shown) <= max(2, max(shown) // 4), "none is served before another"
    finally:
        wall.close()


def test_small_ones_are_shown_more_often_because_what_nobody_would_see_is_left_out(
    memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall = Wall(memory, 8, monkeypatch)
    try:
        wall.run(240)
        looked_at, *small = wall.phones.values()
        pictures = sum(phone.shown for phone in small)
        packets = wall.decoded - looked_at.shown
        assert packets / pictures < KEY_EVERY / 1.5
    finally:
        wall.close()
