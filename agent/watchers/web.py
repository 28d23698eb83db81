"""Fetch a page to see whether it has changed: bounded in size and time, and only from the internet.

Not a browser and not a client of anything: no scripts, cookies, credentials or proxies. Invariants:
every connection, that of a redirect too, goes to an address that was checked when it was resolved,
so a name cannot answer one thing to the check and another to the connection; a fetch ends within
its time and reads no more than its limit.
"""

from __future__ import annotations

import asyncio
import codecs
import hashlib
import socket
import string
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from agent.errors import UsageError, WebError
from agent.safety.egress.destinations import is_same_site, read_destination
from agent.safety.redacting.redaction import find_secrets
from agent.text import one_line
from agent.watchers.addresses import is_public
from agent.watchers.page_text import page_text

if TYPE_CHECKING:
    from httpcore2 import AsyncNetworkBackend, AsyncNetworkStream, Response

LIMIT_BYTES = 512 * 1024
"""How much of a page is read; what comes after it does not count."""
TIMEOUT_S = 10.0
REDIRECTS = 5
_REDIRECTING = frozenset({301, 302, 303, 307, 308})
_ALLOW = "Set watchers.allow_private = true to watch pages of the local network."
_SLOW_CHARSETS = frozenset({"idna", "punycode"})
"""Python reads them in time that grows with the square of the page; no page is written in them."""
_TEXTUAL = ("text/", "application/json", "application/xml", "application/xhtml", "application/rss")

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""Give the addresses of a host."""


class Page(NamedTuple):
    """A page as it was."""

    url: str  # Where it was found in the end.
    text: str  # Clean; empty for what is no text.
    digest: str  # sha256 of its text, or of its bytes where it has none.


def checked_url(url: str) -> str:
    """Return a URL that may be watched, in ASCII and without its fragment.

    Raises:
        UsageError: it is none, or not of http(s), or carries a name and password.
    """
    shown = one_line(url, 120)
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError(f"{shown!r} is not the address of a page: {error}.") from error
    if parts.scheme not in ("http", "https") or not host or port == 0:
        raise UsageError(
            f"{shown!r} is not the address of a page.",
            "Give one that begins with https:// or http://.",
        )
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            f"The address of a page at {one_line(host, 80)} contains a name or password.",
            "Watchers are stored: give an address without them.",
        )
    decoded = read_destination(url)
    if decoded is not None and find_secrets(decoded.carried):
        raise UsageError(
            f"The address of a page at {one_line(host, 80)} contains what looks like a secret.",
            "Watchers are stored, and the page's owner reads the address: leave it out.",
        )
    if not url.isprintable() or " " in url.strip():
        raise UsageError(f"{shown!r} contains a space or a control character.", "Write it as %20.")
    try:
        return _in_ascii(parts._replace(fragment="")).geturl()
    except UnicodeError as error:
        raise UsageError(
            f"{shown!r} has an invalid host name: {error}.", "Write it as xn--…."
        ) from error


def _in_ascii(parts: SplitResult) -> SplitResult:
    """Write a URL as it goes over the wire: foreign hosts by IDNA, the rest in percents."""
    host, netloc = parts.hostname or "", parts.netloc
    if not netloc.isascii():
        port = "" if parts.port is None else f":{parts.port}"
        netloc = f"{host.encode('idna').decode()}{port}"
    return parts._replace(
        netloc=netloc,
        path=quote(parts.path, safe=string.punctuation),
        query=quote(parts.query, safe=string.punctuation),
    )


async def fetch(
    url: str,
    *,
    allow_private: bool = False,
    destinations: Collection[str] = (),
    timeout_s: float = TIMEOUT_S,
    resolve: Resolve | None = None,
) -> Page:
    """Fetch a page.

    Args:
        allow_private: whether addresses of this machine and its network may be spoken to.
        destinations: hosts beside the page's own to which it may redirect.
        timeout_s: for everything, redirects included.
        resolve: by default the system's resolver.

    Raises:
        WebError: it could not be fetched, or may not be; the message says why.
        UsageError: the URL is none.
    """
    import httpcore2

    backend = _checking_backend(resolve or _resolved, allow_private=allow_private)
    try:
        async with (
            asyncio.timeout(timeout_s),
            httpcore2.AsyncConnectionPool(network_backend=backend) as pool,
        ):
            at = checked_url(url)
            for _ in range(REDIRECTS + 1):
                async with pool.stream("GET", at, headers=_HEADERS, extensions={}) as response:
                    if response.status not in _REDIRECTING:
                        return await _page(at, response)
                    at = _next(at, response)
                    _check_redirect(checked_url(url), at, destinations)
    except TimeoutError as error:
        raise WebError(f"{_host(url)} did not give the page within {timeout_s:g} s.") from error
    except httpcore2.TimeoutException as error:
        raise WebError(f"{_host(url)} did not answer in time.") from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        said = one_line(str(error), 160) or type(error).__name__
        raise WebError(f"{_host(url)} could not be reached: {said}.") from error
    raise WebError(f"{_host(url)} redirects more than {REDIRECTS} times.")


_HEADERS = [
    ("User-Agent", "Switchboard-watcher"),
    ("Accept", "text/html, text/*;q=0.9, */*;q=0.5"),
    # What is compressed may be a thousand times as large as what was read of it.
    ("Accept-Encoding", "identity"),
]


def _next(url: str, response: Response) -> str:
    target = _header(response, b"location")
    if not target:
        raise WebError(f"{_host(url)} redirects without an address.")
    try:
        following = checked_url(urljoin(url, target))
    except (UsageError, ValueError) as error:
        raise WebError(f"{_host(url)} redirects to what is not a page: {error}") from error
    if url.startswith("https:") and not following.startswith("https:"):
        raise WebError(f"{_host(url)} redirects from https to http, which is not followed.")
    return following


def _check_redirect(first: str, to: str, destinations: Collection[str]) -> None:
    """Refuse a redirect away from the page's own site. Raises WebError."""
    own, other = urlsplit(first).hostname or "", urlsplit(to).hostname or ""
    if other == own or any(is_same_site(other, site) for site in (own, *destinations)):
        return
    raise WebError(
        f"{_host(first)} redirects to another site, {_host(to)}, which is not followed.",
        f"Watch {_host(to)} itself, or name its host in safety.destinations.",
    )


async def _page(url: str, response: Response) -> Page:
    if not 200 <= response.status < 300:
        raise WebError(f"{_host(url)} answered with status {response.status}.")
    encoding = _header(response, b"content-encoding").lower()
    if encoding not in ("", "identity"):
        raise WebError(
            f"{_host(url)} sent the page as {one_line(encoding, 20)}, which was not requested."
        )
    body = bytearray()
    async for piece in response.aiter_stream():
        body += piece
        if len(body) >= LIMIT_BYTES:
            break
    data = bytes(body[:LIMIT_BYTES])
    kind = _header(response, b"content-type").lower()
    if kind and not kind.startswith(_TEXTUAL):
        return Page(url, "", hashlib.sha256(data).hexdigest())
    is_html = "html" in kind or (not kind and b"<" in data[:200])
    # In a thread: half a megabyte of broken markup takes its time, and the core has other work.
    text = await asyncio.to_thread(lambda: page_text(_decoded(data, kind), is_html=is_html))
    return Page(url, text, hashlib.sha256(text.encode()).hexdigest())


def _decoded(data: bytes, kind: str) -> str:
    _, _, charset = kind.partition("charset=")
    charset = charset.split(";")[0].strip(" \"'") or "utf-8"
    try:
        if codecs.lookup(charset).name not in _SLOW_CHARSETS:
            return data.decode(charset, "replace")
    except (LookupError, ValueError):
        pass
    return data.decode("utf-8", "replace")


def _header(response: Response, name: bytes) -> str:
    found = next((value for key, value in response.headers if key.lower() == name), b"")
    return found.decode("utf-8", "replace").strip()


def _host(url: str) -> str:
    try:
        return one_line(urlsplit(url).netloc.rpartition("@")[2], 100) or "The page"
    except ValueError:
        return "The page"


# --- connections ----------


async def _resolved(host: str, port: int) -> Sequence[str]:
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise WebError(
            f"The name {one_line(host, 80)} cannot be resolved: {one_line(str(error), 80)}."
        ) from error
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


def _checking_backend(resolve: Resolve, *, allow_private: bool) -> AsyncNetworkBackend:
    """Make what opens connections: it resolves, checks and connects in one step."""
    import httpcore2

    class Checking(httpcore2.AsyncNetworkBackend):
        """Connect to checked addresses only."""

        def __init__(self) -> None:
            self._inner = httpcore2.AnyIOBackend()

        async def connect_tcp(
            self,
            host: str,
            port: int,
            timeout: float | None = None,  # noqa: ASYNC109 -- httpcore's own name for it
            local_address: str | None = None,
            socket_options: Iterable[Any] | None = None,
        ) -> AsyncNetworkStream:
            addresses = await resolve(host, port)
            refused = [one for one in addresses if not allow_private and not is_public(one)]
            if not addresses:
                raise WebError(f"{one_line(host, 80)} has no address.")
            if refused:
                # One of several is enough: a name that mixes them is up to something.
                raise WebError(
                    f"{one_line(host, 80)} is at {one_line(refused[0], 60)}, which is not on the "
                    "internet.",
                    _ALLOW,
                )
            failure: Exception | None = None
            for address in addresses:
                try:
                    return await self._inner.connect_tcp(
                        address, port, timeout, local_address, socket_options
                    )
                except (httpcore2.NetworkError, httpcore2.TimeoutException) as error:
                    failure = error
            assert failure is not None, "there was an address to try"
            raise failure

        async def sleep(self, seconds: float) -> None:
            await asyncio.sleep(seconds)

    return Checking()
