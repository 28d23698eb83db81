"""Ask uiautomator2's service on a phone: JSON-RPC 2.0 in HTTP/1.1, over adb's own `tcp:` service.

Not the service's life (`agent.devices.trees.uiautomator_service`). The protocol is that of the
library uiautomator2 3.7 (`core.py`): `GET /ping` answers `pong`, calls are posted to `/jsonrpc/0`.
Invariants: one connection a request, bounded in time and size; what answers is untrusted, and
anything but a well-formed answer is ServiceDownError, never a value.
"""

import io
from typing import TypeVar

import msgspec

from agent.devices.adb.client import ServiceClosedError, StreamEndedError
from agent.devices.shell.phone_shell import PhoneShell
from agent.errors import DeviceError
from agent.text import one_line

PORT = 9008
"""Where uiautomator2's own clients look too, so that one service on a phone serves everybody."""
ANSWER_LIMIT_BYTES = 32 * 1024 * 1024
_Value = TypeVar("_Value")


class ServiceDownError(DeviceError):
    """Nothing on the phone answers as uiautomator2's service does."""


class CallFailedError(DeviceError):
    """The service answered that a call failed; the message has its words."""


class _Error(msgspec.Struct):
    message: str = ""


class _Reply(msgspec.Struct):
    result: msgspec.Raw = msgspec.Raw(b"null")
    error: _Error | None = None


async def ping(shell: PhoneShell, *, timeout_s: float) -> bool:
    """Return whether the service answers. Raises DeviceTimeoutError when it never does."""
    try:
        return await _exchange(shell, "GET", "/ping", b"", timeout_s) == b"pong"
    except ServiceDownError:
        return False


async def stop(shell: PhoneShell, *, timeout_s: float) -> None:
    """Have the service end itself. Raises ServiceDownError when it was not there."""
    await _exchange(shell, "GET", "/stop", b"", timeout_s)


async def call(
    shell: PhoneShell, method: str, *parameters: object, wanted: type[_Value], timeout_s: float
) -> _Value:
    """Call a method of the service and give its result as the type that is wanted.

    Raises:
        CallFailedError: the service refused or the call failed there.
        ServiceDownError: it does not answer, or not in its protocol.
        DeviceTimeoutError: there was no answer in time.
    """
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
    body = await _exchange(shell, "POST", "/jsonrpc/0", msgspec.json.encode(request), timeout_s)
    try:
        reply = msgspec.json.decode(body, type=_Reply)
        if reply.error is None:
            return msgspec.json.decode(reply.result, type=wanted)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        why = f"its answer to {method} cannot be read ({one_line(str(error), 80)})"
        raise _down(shell, why) from error
    raise CallFailedError(
        f"uiautomator2's service on {shell.serial} failed at {method}: "
        f"{one_line(reply.error.message, 200) or 'it gave no reason'}.",
        "Look again in a moment.",
    )


async def _exchange(
    shell: PhoneShell, method: str, path: str, body: bytes, timeout_s: float
) -> bytes:
    # Its HTTP server leaks when it compresses (NanoHTTPD issue 492), so no encoding is accepted.
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\nUser-Agent: uiautomator2\r\n"
        f"Accept-Encoding: \r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    try:
        async with shell.client.open(shell.serial, f"tcp:{PORT}", timeout_s=timeout_s) as stream:
            stream.writer.write(head.encode("ascii") + body)
            await stream.writer.drain()
            answer = await stream.rest(ANSWER_LIMIT_BYTES)
    except StreamEndedError as error:
        raise _down(shell, "it ended the connection") from error
    except ServiceClosedError as error:
        raise _down(shell, "it is not running") from error
    return read_answer(shell, answer)


def read_answer(shell: PhoneShell, answer: bytes) -> bytes:
    """Take the body out of a whole HTTP answer. Raises ServiceDownError unless it is a 200."""
    from http.client import HTTPException, HTTPResponse

    try:
        response = HTTPResponse(_Read(answer))  # type: ignore[arg-type]
        response.begin()
        body = response.read()
    except (HTTPException, ValueError, OSError) as error:
        raise _down(shell, f"it does not speak HTTP ({one_line(repr(error), 80)})") from error
    if response.status != 200:
        raise _down(shell, f"it answered {response.status} {one_line(response.reason, 80)}")
    return body


class _Read:
    """What the standard library takes for a socket: bytes that have all come."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, _mode: str) -> io.BytesIO:
        return io.BytesIO(self._data)


def _down(shell: PhoneShell, why: str) -> ServiceDownError:
    return ServiceDownError(
        f"uiautomator2's service on {shell.serial} cannot be used: {why}.",
        "It is started again when it is next needed.",
    )
