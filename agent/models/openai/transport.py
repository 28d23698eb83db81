"""The HTTP client below the SDK: how far an answer may lead, and how long it may be.

Not the wire. Invariants: a conversation and its key go to the endpoint that the operator named and
to no other, wherever that one points; no answer takes more memory than `MAX_ANSWER_BYTES`, packed
or not.
"""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from agent.models.openai.failures import Failures

if TYPE_CHECKING:
    from openai import DefaultAsyncHttpxClient

MAX_ANSWER_BYTES = 16 * 2**20
"""Of one answer, unpacked: several times what the longest one has in its events."""
MAX_ERROR_BYTES = 64 * 2**10
"""Of the page that explains a refusal; the rest of it is not read."""
_TAIL = "switchboard.tail"
_TAIL_BYTES = 64
_DONE = b"[DONE]"
_PORTS = {"http": 80, "https": 443}


def guarded(base_url: str, failures: Failures) -> DefaultAsyncHttpxClient:
    """Make the SDK's own HTTP client, with the bounds of this module.

    Args:
        base_url: the endpoint that the operator named.
        failures: what is raised where an answer leads elsewhere or does not end.

    Raises:
        ModelError: the environment names a proxy that cannot be used.
    """
    import openai

    async def stay(request: Any) -> None:
        if not _is_same(base_url, str(request.url)):
            raise failures.moved(str(request.url))

    async def bound(response: Any) -> None:
        _bound(response, failures)

    is_here = _is_this_machine(base_url)
    try:
        return openai.DefaultAsyncHttpxClient(
            event_hooks={"request": [stay], "response": [bound]},
            # A proxy of the network would look for the endpoint on a machine of its own. OpenSSL
            # reads by itself which authorities the environment trusts (SSL_CERT_FILE).
            trust_env=not is_here,
            verify=ssl.create_default_context() if is_here else True,
        )
    except (ImportError, ValueError) as error:
        # A kind of proxy that the HTTP library does not speak, or an address that is none.
        raise failures.no_way_through(error) from error


def says_done(response: Any) -> bool:
    """Tell whether a stream that was read ended with the wire's own mark, and was not cut off."""
    tail: bytes = response.extensions.get(_TAIL, b"")
    return tail.rstrip().endswith(_DONE)


def _is_this_machine(base_url: str) -> bool:
    """Tell whether an address is one of this machine's loopback interface."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        # RFC 6761: localhost and every name below it.
        return host.rstrip(".").rpartition(".")[2] == "localhost"


def _is_same(base_url: str, url: str) -> bool:
    """Tell whether an address is the endpoint's own host; better encrypted is the same."""
    named, asked = urlsplit(base_url), urlsplit(url)
    if named.hostname != asked.hostname:
        return False
    if (named.scheme, asked.scheme) == ("http", "https"):
        return True
    ports = [one.port or _PORTS.get(one.scheme) for one in (named, asked)]
    return named.scheme == asked.scheme and ports[0] == ports[1]


def _bound(response: Any, failures: Failures) -> None:
    """Count what is read of an answer, after unpacking, and stop where it is too much.

    The SDK and the HTTP library both read by `aiter_bytes`, whatever the answer is.
    """
    read = response.aiter_bytes
    is_answer = response.status_code < 300
    limit = MAX_ANSWER_BYTES if is_answer else MAX_ERROR_BYTES

    async def bounded(chunk_size: int | None = None) -> AsyncGenerator[bytes, None]:
        total, tail = 0, b""
        async for part in read(chunk_size):
            total += len(part)
            if total > limit:
                if is_answer:
                    raise failures.endless(f"{limit:,} bytes")
                return
            tail = (tail + part)[-_TAIL_BYTES:]
            response.extensions[_TAIL] = tail
            yield part

    response.aiter_bytes = bounded
