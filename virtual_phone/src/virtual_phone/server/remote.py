"""Ask for something of a phone that another process serves.

The other side of `virtual_phone.server.channel`. Invariant: an answer is waited for with a bound,
and a socket that nobody serves any more is told from a phone that does not answer.
"""

import socket
from pathlib import Path

import msgspec

from virtual_phone.errors import PhoneError
from virtual_phone.server.channel import Answer, Request, channel_path
from virtual_phone.server.unix_sockets import connect

TIMEOUT_S = 10.0
LONGEST_ANSWER_BYTES = 64 * 1024 * 1024


class NotServedError(PhoneError):
    """No process serves the phones of this home now."""


def ask(home: Path, request: Request, *, timeout_s: float = TIMEOUT_S) -> Answer:
    """Send a request to whoever serves the phones of a home, and give the answer. Blocks.

    Args:
        home: the directory that holds the phones' own directories.
        request: names the phone.
        timeout_s: bound on connecting and on each wait for more of the answer.

    Raises:
        NotServedError: nobody serves them.
        PhoneError: the request was refused, or no answer came in time.
    """
    path = channel_path(home)
    with socket.socket(socket.AF_UNIX) as channel:
        channel.settimeout(timeout_s)
        try:
            connect(channel, path, timeout_s=timeout_s)
            channel.sendall(msgspec.json.encode(request) + b"\n")
            line = _line(channel)
        except (FileNotFoundError, ConnectionError) as error:
            raise NotServedError(
                f"no process serves the phones in {home}", "Serve them first."
            ) from error
        except TimeoutError:
            raise PhoneError(
                f"the process that serves {request.phone} did not answer within {timeout_s:g} s",
                "It may be stopped or very busy: try again, or end it.",
            ) from None
        except OSError as error:
            raise PhoneError(
                f"{path} cannot be used: {error.strerror or error}", "Check who owns it."
            ) from error
    try:
        said = msgspec.json.decode(line, type=Answer)
    except msgspec.DecodeError as error:
        raise PhoneError(
            f"the answer about {request.phone} cannot be read: {error}",
            "The phones are served by another version; start them again.",
        ) from error
    if said.error:
        raise PhoneError(said.error, said.remedy)
    return said


def _line(channel: socket.socket) -> bytes:
    parts: list[bytes] = []
    size = 0
    while not parts or not parts[-1].endswith(b"\n"):
        part = channel.recv(1 << 16)
        size += len(part)
        if not part or size > LONGEST_ANSWER_BYTES:
            raise ConnectionResetError("the answer has no end")
        parts.append(part)
    return b"".join(parts)
