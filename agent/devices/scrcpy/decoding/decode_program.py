"""The process that decodes: packets in on a socket, pictures out in memory that the core maps.

Started by `decode_link` and by nobody else; knows streams by number and no phones. Invariants: it
ends when its socket does, so also when the core was killed; one stream is decoded in order, by one
thread at a time, the largest picture first; a call that fails fails alone.
"""

import os
import socket
import threading
from dataclasses import dataclass
from queue import SimpleQueue
from typing import IO, Never, assert_never

import msgspec

from agent.devices.frames.subscribers import fit
from agent.devices.scrcpy.decoding import decode_wire
from agent.devices.scrcpy.decoding.decode_memory import THREADS, PictureMemory
from agent.devices.scrcpy.decoding.decode_schedule import DecodeSchedule
from agent.devices.scrcpy.decoding.decoder import Decoder, load
from agent.devices.scrcpy.decoding.pictures import whole_png

_NICER = 2
"""Keys are answered before pictures are decoded, and on a busy machine pictures still come."""
_BUFFER_BYTES = 1 << 20


def main(memory: int) -> Never:
    """Serve the core on the socket that is standard input.

    Args:
        memory: the descriptor of the file that both map.
    """
    link = socket.socket(fileno=0)
    load()
    DecodeProgram(link, PictureMemory(memory)).run()


@dataclass(slots=True)
class _Work:
    """A call, and how far it is carried out."""

    asked: decode_wire.Decode | decode_wire.Scale | decode_wire.Close
    next_packet: int = 0
    made: int = 0  # How many pictures its packets made so far.


class DecodeProgram:
    """The streams and the threads that decode them."""

    def __init__(self, link: socket.socket, memory: PictureMemory) -> None:
        self._link = link
        self._memory = memory
        self._saying = threading.Lock()
        self._decoders: dict[int, Decoder] = {}
        self._schedule: DecodeSchedule[_Work] = DecodeSchedule()
        self._wholes: SimpleQueue[decode_wire.Encode] = SimpleQueue()
        """A whole picture takes so long to encode that others would wait for it."""

    def run(self) -> Never:
        """Carry out what is asked until the socket ends."""
        # Before this thread steps back (on Linux alone, and those it starts): a session waits for
        # whole pictures.
        threading.Thread(target=self._encode, daemon=True).start()
        os.nice(_NICER)
        for number in range(THREADS):
            threading.Thread(target=self._work, args=(number,), daemon=True).start()
        self._say(decode_wire.Ready())
        stream = os.fdopen(self._link.fileno(), "rb", buffering=_BUFFER_BYTES, closefd=False)
        while (asked := _read(stream)) is not None:
            self.ask(asked)
        _end()

    def ask(self, asked: decode_wire.Asked) -> None:
        """Have something done, when its turn comes."""
        if isinstance(asked, decode_wire.Encode):
            self._wholes.put(asked)
        else:
            self._schedule.put(asked.stream, _Work(asked), rank=_rank(asked))

    def _say(self, said: decode_wire.Said) -> None:
        data = decode_wire.framed(said)
        try:
            with self._saying:
                self._link.sendall(data)
        except OSError:
            _end()

    def _work(self, thread: int) -> None:
        while True:
            self.turn(thread)

    def turn(self, thread: int) -> None:
        """Wait for the most urgent work, and do it until it is done or something else is."""
        stream, work = self._schedule.take()
        try:
            said = self._carry_out(thread, work)
        except Exception as error:  # whatever one stream does, the others go on
            said = _failed(work.asked.call, error)
        if said is None:
            self._schedule.put_back(stream, work)
            return
        if isinstance(work.asked, decode_wire.Close):
            self._schedule.forget(stream)
        else:
            self._schedule.done(stream)
        self._say(said)

    def _encode(self) -> None:
        while True:
            waiting = [self._wholes.get()]
            # Who gave up waiting may have asked again: all of them are served by one picture.
            while not self._wholes.empty():
                waiting.append(self._wholes.get())
            for stream in {asked.stream for asked in waiting}:
                said = self._encoded(stream)
                for asked in waiting:
                    if asked.stream == stream:
                        self._say(msgspec.structs.replace(said, call=asked.call))

    def _encoded(self, stream: int) -> decode_wire.Encoded | decode_wire.Failed:
        decoder = self._decoders.get(stream)
        if decoder is None:
            return decode_wire.Failed(0, "There is no picture yet")
        try:
            return decode_wire.Encoded(0, *whole_png(decoder))
        except Exception as error:  # whatever one stream does, the others go on
            return _failed(0, error)

    def _carry_out(self, thread: int, work: _Work) -> decode_wire.Said | None:
        """Return the answer; None where a more urgent stream waits before this one is finished."""
        asked = work.asked
        match asked:
            case decode_wire.Decode():
                return self._decode(thread, asked, work)
            case decode_wire.Scale():
                decoder = self._decoder(asked.stream)
                filled = self._fill(decoder, asked.wants, 0)
                return _drawn(asked.call, decoder, 0, False, False, filled)
            case decode_wire.Close():
                self._decoders.pop(asked.stream, None)
                return decode_wire.Closed(asked.call)
            case _:
                assert_never(asked)

    def _decode(
        self, thread: int, asked: decode_wire.Decode, work: _Work
    ) -> decode_wire.Drawn | None:
        decoder = self._decoder(asked.stream)
        if asked.left_out and work.next_packet == 0:
            decoder.break_off()
        self._memory.mark(thread, asked.stream)
        try:
            while work.next_packet < len(asked.packets):
                packet = asked.packets[work.next_packet]
                work.next_packet += 1
                work.made += decoder.decode((packet,))
                if self._schedule.should_yield(asked.stream):
                    return None
            if not work.made:
                return _drawn(asked.call, decoder, 0, False, False, ())
            filled = self._fill(decoder, asked.wants, asked.arrived_ms)
            moved = decoder.has_moved() or not asked.compare
            return _drawn(asked.call, decoder, work.made, moved, decoder.is_black(), filled)
        finally:
            self._memory.mark(thread, 0)

    def _decoder(self, stream: int) -> Decoder:
        decoder = self._decoders.get(stream)
        if decoder is None:
            decoder = self._decoders[stream] = Decoder()
        return decoder

    def _fill(
        self, decoder: Decoder, wants: tuple[decode_wire.PictureRequest, ...], captured_ms: int
    ) -> tuple[decode_wire.Filled, ...]:
        """Put the newest picture where it is wanted, once at each size."""
        size = decoder.size
        if size is None:
            raise ValueError("There is no picture yet.")
        places = {fit(size, want.box): want.at for want in wants}
        number = decoder.pictures
        for (scaled, at), rgb in zip(places.items(), decoder.scaled(tuple(places)), strict=True):
            self._memory.write(at, number, scaled, rgb, captured_ms)
        return tuple(decode_wire.Filled(at, number) for at in places.values())


def _rank(asked: decode_wire.Decode | decode_wire.Scale | decode_wire.Close) -> int | None:
    """Return the longer side of the largest picture that is wanted, in pixels; None for none."""
    wants = () if isinstance(asked, decode_wire.Close) else asked.wants
    return max((max(want.box) for want in wants), default=None)


def _failed(call: int, error: Exception) -> decode_wire.Failed:
    return decode_wire.Failed(call, f"{type(error).__name__}: {error}")


def _drawn(
    call: int,
    decoder: Decoder,
    made: int,
    moved: bool,
    black: bool,
    filled: tuple[decode_wire.Filled, ...],
) -> decode_wire.Drawn:
    return decode_wire.Drawn(
        call=call,
        made=made,
        pictures=decoder.pictures,
        size=decoder.size,
        moved=moved,
        black=black,
        awaits_key=decoder.awaits_key,
        filled=filled,
    )


def _read(stream: IO[bytes]) -> decode_wire.Asked | None:
    """Read what is asked next; None when the core is gone."""
    head = stream.read(decode_wire.LENGTH_BYTES)
    length = int.from_bytes(head)
    if len(head) < decode_wire.LENGTH_BYTES or length > decode_wire.MESSAGE_LIMIT_BYTES:
        return None
    data = stream.read(length)
    return decode_wire.asked_decoder.decode(data) if len(data) == length else None


def _end() -> Never:
    """End at once: nothing here is worth a farewell, and decoding threads would hold it up."""
    os._exit(0)
