"""What the core and the process that decodes say to each other, as MessagePack with its length.

Only these two speak it, and one starts the other from the same files, so it has no versions.
Invariant: each call is answered once, and one stream's calls in their order, but for `Encode`.
"""

from typing import TypeAlias

import msgspec

from agent.devices.frames.subscribers import Size
from agent.devices.scrcpy.packets import VideoPacket

LENGTH_BYTES = 4
MESSAGE_LIMIT_BYTES = 1 << 30


class PictureRequest(msgspec.Struct, frozen=True, array_like=True):
    """A box in pixels that a picture is to fit in, and the place in memory it goes to."""

    box: Size
    at: int


class Decode(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Decode packets of a stream, and put the newest picture where it is wanted."""

    call: int
    stream: int
    packets: tuple[VideoPacket, ...]
    left_out: bool
    compare: bool
    arrived_ms: int
    wants: tuple[PictureRequest, ...]


class Scale(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Put the newest picture where it is wanted."""

    call: int
    stream: int
    wants: tuple[PictureRequest, ...]


class Encode(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Encode the newest picture at its own size."""

    call: int
    stream: int


class Close(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Forget a stream; once this is answered nothing is written for it any more."""

    call: int
    stream: int


Asked: TypeAlias = Decode | Scale | Encode | Close


class Ready(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """The libraries are loaded."""


class Filled(msgspec.Struct, frozen=True, array_like=True):
    """The newest picture is at this place in memory, under this number."""

    at: int
    number: int


class Drawn(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """What `Decode` or `Scale` came to."""

    call: int
    made: int  # How many pictures the packets of this call made.
    pictures: int  # How many the stream has made.
    size: Size | None
    moved: bool
    black: bool
    awaits_key: bool
    filled: tuple[Filled, ...]


class Encoded(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """What `Encode` came to: a PNG."""

    call: int
    size: Size
    data: bytes


class Closed(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """A stream is forgotten."""

    call: int


class Failed(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """A call could not be carried out."""

    call: int
    why: str


Said: TypeAlias = Ready | Drawn | Encoded | Closed | Failed
Answer: TypeAlias = Drawn | Encoded | Closed | Failed

_encoder = msgspec.msgpack.Encoder()
asked_decoder = msgspec.msgpack.Decoder(Asked)
said_decoder = msgspec.msgpack.Decoder(Said)


def framed(message: Asked | Said) -> bytes:
    """Encode a message behind its length."""
    data = _encoder.encode(message)
    return len(data).to_bytes(LENGTH_BYTES) + data
