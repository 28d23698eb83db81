"""Speak HTTP with the services of channels: bounded in time and size.

Invariants: plain HTTP goes to this computer only; redirects are not followed; an error names the
host and never the rest of an address, which may hold a token.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from agent.bounded_http import fault_of
from agent.errors import ConfigError, WebError
from agent.text import one_line

if TYPE_CHECKING:
    from httpcore2 import AsyncConnectionPool

MOST_BYTES = 1_000_000
MOST_LINE_BYTES = 64_000
TIMEOUT_S = 20.0


class HttpAnswer(NamedTuple):
    """What a service answered."""

    status: int
    body: bytes

    def json(self) -> dict[str, Any]:
        """Return the body as a JSON object; an empty one where it is none."""
        try:
            return msgspec.json.decode(self.body, type=dict[str, Any])
        except msgspec.MsgspecError:
            return {}


class HttpClient:
    """The connections to one service."""

    def __init__(self) -> None:
        self._pool: AsyncConnectionPool | None = None

    async def send(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes = b"",
        timeout_s: float = TIMEOUT_S,
    ) -> HttpAnswer:
        """Send a request and read its whole answer. Raises WebError: none came, or too much."""
        async with (
            _bounded(url, timeout_s),
            self._opened().stream(
                method,
                url,
                headers=[*(headers or {}).items()],
                content=content or None,
                extensions={},
            ) as response,
        ):
            body = b""
            async for part in response.aiter_stream():
                body += part
                if len(body) > MOST_BYTES:
                    raise WebError(f"{_host(url)} answered with more than is read.")
            return HttpAnswer(response.status, body)
        raise AssertionError("unreachable")

    async def lines(
        self, url: str, *, headers: Mapping[str, str] | None = None, silence_s: float
    ) -> AsyncIterator[bytes]:
        """Follow an answer that never ends, line by line.

        Args:
            silence_s: how long it may say nothing.

        Raises:
            WebError: it was refused, broke off, or said nothing for too long.
        """
        parts = self._parts(url, headers or {}, silence_s)
        async with aclosing(parts):
            rest = b""
            async for part in parts:
                *found, rest = (rest + part).split(b"\n")
                if len(rest) > MOST_LINE_BYTES:
                    raise WebError(f"{_host(url)} sent a line that is too long.")
                for line in found:
                    yield line

    async def _parts(
        self, url: str, headers: Mapping[str, str], silence_s: float
    ) -> AsyncGenerator[bytes, None]:
        import httpcore2

        try:
            async with self._opened().stream(
                "GET", url, headers=[*headers.items()], extensions={"timeout": {"read": silence_s}}
            ) as response:
                if response.status != 200:
                    raise WebError(f"{_host(url)} answered with status {response.status}.")
                async for part in response.aiter_stream():
                    yield part
        except httpcore2.TimeoutException as error:
            raise WebError(f"{_host(url)} said nothing for {silence_s:g} s.") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
            raise _unreached(url, error) from error
        raise WebError(f"{_host(url)} broke off.")

    async def close(self) -> None:
        if self._pool is not None:
            await self._pool.aclose()
            self._pool = None

    def _opened(self) -> AsyncConnectionPool:
        if self._pool is None:
            import httpcore2

            self._pool = httpcore2.AsyncConnectionPool()
        return self._pool


def checked_address(url: str, named: str) -> str:
    """Return an address without a slash at its end. Raises ConfigError: it may not be used."""
    fault = fault_of(url)
    if fault:
        raise ConfigError(f"{named} {fault}.", "Write one as https://ntfy.example.com.")
    return url.rstrip("/")


@asynccontextmanager
async def _bounded(url: str, timeout_s: float) -> AsyncIterator[None]:
    import httpcore2

    try:
        async with asyncio.timeout(timeout_s):
            yield
    except TimeoutError as error:
        raise WebError(f"{_host(url)} did not answer within {timeout_s:g} s.") from error
    except httpcore2.TimeoutException as error:
        raise WebError(f"{_host(url)} did not answer in time.") from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError) as error:
        raise _unreached(url, error) from error


def _unreached(url: str, error: Exception) -> WebError:
    said = one_line(str(error), 160) or type(error).__name__
    return WebError(f"{_host(url)} could not be reached: {said}.")


def _host(url: str) -> str:
    return one_line(urlsplit(url).hostname or "the service", 80)
