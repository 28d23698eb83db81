"""The HTTP client below the SDK: how far an answer may lead, and how long it may be.

Not the wire. Invariants: a conversation and its key go to the endpoint that the operator named and
to no other, wherever that one points; no answer takes more memory than `MAX_ANSWER_BYTES`, packed
or not.
"""

import os
import ssl
from collections.abc import AsyncGenerator
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from agent.models.loopback import is_loopback
from agent.models.wires.failures import Failures

MAX_ANSWER_BYTES = 16 * 2**20
"""Of one answer, unpacked: several times what the longest one has in its events."""
MAX_ERROR_BYTES = 64 * 2**10
"""Of the page that explains a refusal; the rest of it is not read."""
_MAX_COPIED_BYTES = 2**31  # What an SDK may copy to put one event together: a second's work.
_BLANKS = (b"\n\n", b"\r\n\r\n", b"\r\r")
_TAIL = "switchboard.tail"
_TAIL_BYTES = 64
_DONE = b"[DONE]"
_PORTS = {"http": 80, "https": 443}
_AUTHORITIES = ("SSL_CERT_FILE", "SSL_CERT_DIR")


def guarded(base_url: str, failures: Failures) -> Any:
    """Make the SDK's own HTTP client (`DefaultAsyncHttpxClient`), with the bounds of this module.

    Args:
        base_url: the endpoint that the operator named.
        failures: what is raised where an answer leads elsewhere or does not end.

    Raises:
        ModelError: the environment names a proxy that cannot be used.
    """

    async def refuse_redirect(request: Any) -> None:
        if not _is_same(base_url, str(request.url)):
            raise failures.redirected(str(request.url))

    async def bound(response: Any) -> None:
        _bound(response, failures)

    is_here = is_loopback(base_url)
    try:
        return failures.sdk.DefaultAsyncHttpxClient(
            event_hooks={"request": [refuse_redirect], "response": [bound]},
            # A proxy of the network would look for the endpoint on a machine of its own. OpenSSL
            # reads by itself which authorities the environment trusts (SSL_CERT_FILE).
            trust_env=not is_here,
            verify=authorities() if is_here else True,
        )
    except (ImportError, ValueError) as error:
        # A kind of proxy that the HTTP library does not speak, or an address that is none.
        raise failures.no_way_through(error) from error


def authorities() -> ssl.SSLContext:
    """Return a context with the authorities of this machine, or those that the environment names.

    To read them takes 20 ms: a context is shared by all clients of the process.
    """
    return _read(*map(os.environ.get, _AUTHORITIES))


@cache
def _read(*_named: str | None) -> ssl.SSLContext:
    return ssl.create_default_context()


def says_done(response: Any) -> bool:
    """Return whether a stream that was read ended with the wire's own mark, and was not cut off."""
    tail: bytes = response.extensions.get(_TAIL, b"")
    return tail.rstrip().endswith(_DONE)


def _is_same(base_url: str, url: str) -> bool:
    """Return whether an address is the endpoint's own host; better encrypted is the same."""
    named, asked = urlsplit(base_url), urlsplit(url)
    if named.hostname != asked.hostname:
        return False
    if (named.scheme, asked.scheme) == ("http", "https"):
        return True
    ports = [one.port or _PORTS.get(one.scheme) for one in (named, asked)]
    return named.scheme == asked.scheme and ports[0] == ports[1]


class _Event:
    """Count one event of a stream while its lines arrive.

    The SDKs copy all lines that they have of an event at each further one, on the event loop: many
    short lines without the blank one that ends an event would hold it up for minutes.
    """

    def __init__(self) -> None:
        self._lines = self._bytes = 0
        self._last = b""

    def take(self, part: bytes) -> bool:
        """Count a part of a stream; return whether putting the event together costs too much."""
        joined = self._last + part
        ends = [joined.rfind(blank) + len(blank) for blank in _BLANKS if blank in joined]
        if ends:
            self._lines = self._bytes = 0
            part = joined[max(ends) :]
        self._last = joined[-3:]
        self._lines += part.count(b"\n") + part.count(b"\r") + 1
        self._bytes += len(part)
        return self._lines * self._bytes > _MAX_COPIED_BYTES


def _bound(response: Any, failures: Failures) -> None:
    """Count what is read of an answer, after unpacking, and stop where it is too much.

    The SDK and the HTTP library both read by `aiter_bytes`, whatever the answer is.
    """
    read = response.aiter_bytes
    is_answer = response.status_code < 300
    limit = MAX_ANSWER_BYTES if is_answer else MAX_ERROR_BYTES

    async def bounded(chunk_size: int | None = None) -> AsyncGenerator[bytes, None]:
        total, tail = 0, b""
        event = _Event()
        async for part in read(chunk_size):
            total += len(part)
            if total > limit:
                if is_answer:
                    raise failures.endless(f"{limit:,} bytes")
                return
            if is_answer and event.take(part):
                raise failures.endless("an event of too many lines")
            tail = (tail + part)[-_TAIL_BYTES:]
            response.extensions[_TAIL] = tail
            yield part

    response.aiter_bytes = bounded
