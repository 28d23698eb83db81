"""ADB packets as bytes: encode one, check and decode a header.

Not a connection: nothing here reads or waits. Invariant: a header that this module accepts has a
known command, a right magic and a payload length a peer may use.

The format is described by the Android project (packages/modules/adb, protocol.txt): six
little-endian u32 (command, arg0, arg1, payload length, payload checksum, magic = command XOR
0xffffffff), then the payload.
"""

import struct
from dataclasses import dataclass
from enum import IntEnum

from virtual_phone.errors import PhoneError

HEADER = struct.Struct("<6I")
HEADER_BYTES = HEADER.size
MAX_PAYLOAD_BYTES = 1024 * 1024
VERSION_SKIP_CHECKSUM = 0x01000001
MAX_PAYLOAD_V1_BYTES = 4096


class Command(IntEnum):
    """The packet types; the number is the name in ASCII, little endian."""

    SYNC = 0x434E5953
    CNXN = 0x4E584E43
    AUTH = 0x48545541
    OPEN = 0x4E45504F
    OKAY = 0x59414B4F
    CLSE = 0x45534C43
    WRTE = 0x45545257
    STLS = 0x534C5453


_KNOWN = {int(command): command for command in Command}


class MalformedPacketError(PhoneError):
    """The peer sent bytes that are not ADB; the connection cannot be used any more."""


@dataclass(frozen=True, slots=True)
class Header:
    """A decoded packet header; lengths in bytes."""

    command: Command
    arg0: int
    arg1: int
    length: int
    checksum: int


def checksum(payload: bytes) -> int:
    """Return the sum of the payload's bytes modulo 2**32, as protocol version 1 wants it."""
    return sum(payload) & 0xFFFFFFFF


def encode(
    command: Command, arg0: int, arg1: int, payload: bytes = b"", *, summed: bool = False
) -> bytes:
    """Encode one packet; with `summed` the checksum is filled in (CNXN, AUTH and old peers)."""
    total = checksum(payload) if summed else 0
    header = HEADER.pack(command, arg0, arg1, len(payload), total, command ^ 0xFFFFFFFF)
    return header + payload if payload else header


def decode_header(raw: bytes) -> Header:
    """Decode 24 bytes.

    Raises:
        MalformedPacketError: wrong magic, unknown command or a payload over 1 MiB.
    """
    command, arg0, arg1, length, total, magic = HEADER.unpack(raw)
    if magic != command ^ 0xFFFFFFFF:
        raise MalformedPacketError(f"packet {raw[:4]!r} has the wrong magic {magic:#010x}")
    known = _KNOWN.get(command)
    if known is None:
        raise MalformedPacketError(f"packet command {raw[:4]!r} is unknown")
    if length > MAX_PAYLOAD_BYTES:
        raise MalformedPacketError(f"packet {known.name} announces {length} payload bytes")
    return Header(known, arg0, arg1, length, total)


@dataclass(frozen=True, slots=True)
class Banner:
    """What a peer says of itself in CNXN: `host::features=a,b` or `device::k=v;features=a,b`."""

    kind: str
    features: frozenset[str]


def decode_banner(payload: bytes) -> Banner:
    """Read a CNXN payload; fields that are not understood are ignored, as adbd does."""
    text = payload.rstrip(b"\0").decode("utf-8", "replace")
    kind, _, rest = text.partition(":")
    _, _, fields = rest.partition(":")
    features: frozenset[str] = frozenset()
    for field in fields.split(";"):
        key, _, value = field.partition("=")
        if key == "features":
            features = frozenset(name for name in value.split(",") if name)
    return Banner(kind, features)
