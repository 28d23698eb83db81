"""Just enough HTTP/1.1 for one service: requests with a length, answers with a length.

Not a web server: no chunked bodies, no upgrades. Invariant: heads, bodies and waits are bounded,
and what is not HTTP ends the connection.
"""

import asyncio
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

from virtual_phone.errors import PhoneError
from virtual_phone.server.pipes import Source

HEAD_LIMIT_BYTES = 16 * 1024
BODY_LIMIT_BYTES = 4 * 1024 * 1024
READ_TIMEOUT_S = 30.0
PLAIN, JSON, PNG = "text/plain", "application/json", "image/png"


class RequestError(PhoneError):
    """The client sent what is not a request, or one that is too large; the connection ends."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Request:
    """One request; header names in lower case."""

    method: str
    path: str
    query: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def keeps_alive(self) -> bool:
        """Whether the client wants to send more on this connection."""
        return self.headers.get("connection", "").lower() != "close"


class RequestReader:
    """The requests of one connection, one after the other."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._buffer = bytearray()

    async def next(self) -> Request | None:
        """Return the next request; None when the client has gone or says nothing for too long.

        Raises:
            RequestError: it is not HTTP, or too large.
        """
        try:
            async with asyncio.timeout(READ_TIMEOUT_S):
                return await self._read()
        except TimeoutError:
            return None

    async def _read(self) -> Request | None:
        head = await self._head()
        if head is None:
            return None
        try:
            first, *lines = head.decode("ascii").split("\r\n")
            method, target, version = first.split(" ")
            headers = {}
            for line in lines:
                name, colon, value = line.partition(":")
                if not colon:
                    raise ValueError(line)
                headers[name.strip().lower()] = value.strip()
            length = int(headers.get("content-length", "0"))
            address = urlsplit(target)
            query = {name: values[0] for name, values in parse_qs(address.query).items()}
        except (UnicodeDecodeError, ValueError) as error:
            raise RequestError(HTTPStatus.BAD_REQUEST, "BAD REQUEST: Syntax error.") from error
        if not version.startswith("HTTP/1.") or length < 0 or "transfer-encoding" in headers:
            raise RequestError(HTTPStatus.BAD_REQUEST, "BAD REQUEST: Syntax error.")
        if length > BODY_LIMIT_BYTES:
            raise RequestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The body is too large.")
        while len(self._buffer) < length:
            if not await self._more():
                return None
        body = bytes(self._buffer[:length])
        del self._buffer[:length]
        return Request(method, address.path, query, headers, body)

    async def _head(self) -> bytes | None:
        while (end := self._buffer.find(b"\r\n\r\n")) < 0:
            if len(self._buffer) > HEAD_LIMIT_BYTES:
                raise RequestError(
                    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "The head is too large."
                )
            if not await self._more():
                return None
        head = bytes(self._buffer[:end])
        del self._buffer[: end + 4]
        return head

    async def _more(self) -> bool:
        data = await self._source.read()
        self._buffer += data
        return bool(data)


def response(
    body: bytes, kind: str = PLAIN, status: HTTPStatus = HTTPStatus.OK, *, stays: bool = False
) -> bytes:
    """Return an answer as it goes over the wire."""
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\n"
        f"Content-Type: {kind}\r\n"
        f"Content-Length: {len(body)}\r\n"
        f"Connection: {'keep-alive' if stays else 'close'}\r\n\r\n"
    )
    return head.encode("ascii") + body
