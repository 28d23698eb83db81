"""Messages from a scrcpy server on the control socket.

Layouts after `DeviceMessageWriter.java` of v1.20 to v4.1, big endian. The peer is not trusted.
Invariant: a length is checked before anything of that length is read; what is not known raises
DeviceError and ends the channel.
"""

import struct
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from agent.errors import DeviceError

CLIPBOARD_LIMIT_BYTES = 1 << 18
_REPORT_LIMIT_BYTES = 4096

ReadExactly: TypeAlias = Callable[[int], Awaitable[bytes]]


@dataclass(frozen=True, slots=True)
class Clipboard:
    """What the clipboard holds; text of the phone, not cleaned."""

    text: str


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """The clipboard was set by the message of this sequence."""

    sequence: int


@dataclass(frozen=True, slots=True)
class UhidOutput:
    """The phone wrote to an input device: a keyboard's lights."""

    device: int
    report: bytes


ReplyMessage: TypeAlias = Clipboard | Acknowledged | UhidOutput


async def read_reply(read: ReadExactly) -> ReplyMessage:
    """Read the next message. Raises what `read` does, and DeviceError if it is not a message."""
    (kind,) = await read(1)
    match kind:
        case 0:
            size = int.from_bytes(await read(4))
            return Clipboard(
                (await read(_bounded(size, CLIPBOARD_LIMIT_BYTES))).decode("utf-8", "replace")
            )
        case 1:
            return Acknowledged(int.from_bytes(await read(8)))
        case 2:
            device, size = struct.unpack(">HH", await read(4))
            return UhidOutput(device, await read(_bounded(size, _REPORT_LIMIT_BYTES)))
        case _:
            raise DeviceError(
                f"The scrcpy server sent a message of unknown kind {kind}.",
                "Restart the phone's scrcpy server; its version may not be what it said.",
            )


def _bounded(size: int, limit: int) -> int:
    if size > limit:
        raise DeviceError(
            f"The scrcpy server announced a message of {size} bytes; at most {limit} is plausible.",
            "Restart the phone's scrcpy server.",
        )
    return size
