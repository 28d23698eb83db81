"""One connection to an MCP server, in a task of its own, so that its end is nobody else's.

Invariants: nothing that a server does raises here but ServerTrouble; each wait is bounded; what a
server says is cleaned, bounded and redacted before anybody reads it.
"""

import asyncio
import hashlib
import json
import logging
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from typing import Any

import anyio
import mcp_types as types
from mcp.client import Client
from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError

from agent.errors import UsageError
from agent.mcp.bounded import ErrorTail
from agent.results.schema import checked_schema
from agent.safety.redacting.redaction import redact
from agent.safety.redacting.secrets import SECRET
from agent.text import clean, one_line
from agent.tools.foreign import ForeignAnswer, ForeignTool

END_S = 20.0
MAX_TOOLS = 24  # Of one server: each costs every call of a model.
_MAX_PAGES = 10
_MAX_SCHEMA_CHARS = 8_000
_MAX_DESCRIPTION_CHARS = 300
MAX_ANSWER_CHARS = 6_000
_LAST_LINES = 3  # Of stderr: a traceback says in its last what happened.
_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")

# The SDK logs what a server sends that breaks the protocol, with tracebacks: a hostile server would
# write the operator's log full.
for _name in ("client", "mcp.client", "mcp.shared"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)
# It logs each address that it asks, which may hold a key.
logging.getLogger("httpx2").setLevel(logging.WARNING)

OpenStreams = Callable[[], AbstractAsyncContextManager[Any]]


class ServerTrouble(Exception):
    """A server cannot be used; the text says why, for people."""


class ServerConnection:
    """A connection to one server.

    Args:
        name: of the server, for people.
        streams: opens the transport.
        timeout_s: how long one call may take.
        connect_s: how long connecting and listing the tools may take.
        withheld: says what no text of it may show: what the operator gave it to prove who they are.
        errors: what a server that is started here writes on stderr.
    """

    def __init__(
        self,
        name: str,
        streams: OpenStreams,
        *,
        timeout_s: float,
        connect_s: float,
        withheld: Callable[[], Collection[str]] = tuple,
        errors: ErrorTail | None = None,
    ) -> None:
        self.name = name
        self._streams = streams
        self._timeout_s = timeout_s
        self._connect_s = connect_s
        self._withheld = withheld
        self._errors = errors or ErrorTail()
        self._session: ClientSession | None = None
        self._end = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.troubles: list[str] = []

    @property
    def is_up(self) -> bool:
        return self._session is not None

    async def open(self) -> tuple[ForeignTool, ...]:
        """Connect, and return the tools that can be offered. Raises ServerTrouble."""
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._run(ready), name=f"MCP server {self.name}")
        try:
            async with asyncio.timeout(self._connect_s):
                await asyncio.wait({ready, self._task}, return_when=asyncio.FIRST_COMPLETED)
                if not ready.done():
                    raise self._ended("ended at its start")
                ready.result()
                return tuple(self._offered(await self._listed()))
        except TimeoutError as error:
            raise ServerTrouble(
                f"The MCP server {self.name} did not answer within {self._connect_s:g} s."
            ) from error
        finally:
            # Nobody waits for it any more: how it fails later is no error that nobody handled.
            if not ready.cancel() and not ready.cancelled():
                ready.exception()

    async def close(self) -> None:
        """Hang up, and end a server that was started here."""
        self._end.set()
        if self._task is not None:
            if self._session is not None:
                await asyncio.wait({self._task}, timeout=END_S)
            # One that never answered waits for nothing but its answer.
            self._task.cancel()
            await asyncio.wait({self._task})

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ForeignAnswer:
        """Call a tool. Raises ServerTrouble where the server is of no more use."""
        if self._session is None:
            raise self._ended("has ended")
        try:
            async with asyncio.timeout(self._timeout_s):
                result = await self._session.call_tool(tool, dict(arguments))
        except TimeoutError as error:
            raise ServerTrouble(
                f"The MCP server {self.name} did not answer within {self._timeout_s:g} s."
            ) from error
        except (anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            raise self._ended("has ended") from error
        except Exception as error:
            # The SDK's errors, those of its transports, and what it makes of a broken answer.
            is_closed = isinstance(error, MCPError) and error.code == types.CONNECTION_CLOSED
            if is_closed or self._session is None:
                raise self._ended("has ended") from error
            return ForeignAnswer(
                text=self._cleaned(str(error) or type(error).__name__), failed=True
            )
        return ForeignAnswer(text=self._cleaned(_text_of(result)), failed=bool(result.is_error))

    async def _run(self, ready: asyncio.Future[None]) -> None:
        try:
            async with self._streams() as (read, write):
                info = types.Implementation(name="switchboard", version="1")
                # Servers of both eras: 2026-07-28's `server/discover` first, then the handshake.
                # No sampling, elicitation or roots: a server gets nothing by asking.
                client = Client(_Opened(read, write), mode="auto", client_info=info, cache=None)
                async with client:
                    self._session = client.session
                    if not ready.done():
                        ready.set_result(None)
                    await self._end.wait()
        except Exception as error:
            reason = self._innermost(error)
            if not ready.done():
                ready.set_exception(self._ended(f"cannot be reached: {reason}"))
        finally:
            self._session = None
            if not ready.done():
                ready.cancel()

    async def _listed(self) -> list[types.Tool]:
        found: list[types.Tool] = []
        cursor: str | None = None
        for _ in range(_MAX_PAGES):
            if self._session is None:
                break
            try:
                page = await self._session.list_tools(
                    params=types.PaginatedRequestParams(cursor=cursor)
                )
            except Exception as error:
                raise ServerTrouble(
                    f"The MCP server {self.name} does not list its tools: {self._innermost(error)}."
                ) from error
            found += page.tools
            cursor = page.next_cursor
            if not cursor or len(found) > 10 * MAX_TOOLS:
                break
        return found

    def _offered(self, listed: list[types.Tool]) -> Iterator[ForeignTool]:
        """Read what a server says of its tools; leaves out, by name, what cannot be offered."""
        taken: set[str] = set()
        for tool in listed:
            shown = f"{self.name}.{one_line(tool.name, 40)}"
            if not _NAME.fullmatch(tool.name):
                self.troubles.append(f"The tool {shown} is left out: its name cannot be used.")
                continue
            if tool.name in taken:
                self.troubles.append(f"The tool {shown} is left out: it is listed twice.")
                continue
            taken.add(tool.name)
            try:
                text = self._hidden(json.dumps(tool.input_schema))
                if len(text) > _MAX_SCHEMA_CHARS:
                    raise UsageError(f"its schema has {len(text):,} characters")
                schema = checked_schema(clean(text, _MAX_SCHEMA_CHARS), "input schema")
            except (UsageError, ValueError, RecursionError) as error:
                reason = error.message if isinstance(error, UsageError) else "it is too deep"
                self.troubles.append(f"The tool {shown} is left out: {one_line(reason, 200)}.")
                continue
            said = self._hidden(tool.description or "")
            digest = hashlib.sha256(f"{tool.name}\n{said}\n{text}".encode("utf-8", "replace"))
            yield ForeignTool(
                server=self.name,
                name=tool.name,
                description=one_line(redact(said[: 4 * _MAX_DESCRIPTION_CHARS]), 300),
                schema=schema,
                digest=digest.hexdigest(),
            )

    def _ended(self, how: str) -> ServerTrouble:
        """Return the error for a server that is of no use, with the last it wrote on stderr."""
        lines = [line for line in self._errors.text.splitlines() if line.strip()]
        said = self._hidden(clean("; ".join(lines[-_LAST_LINES:]), 2000))
        more = f" Its last words: {one_line(redact(said), 400)}" if said else ""
        return ServerTrouble(f"The MCP server {self.name} {how}.{more}")

    def _cleaned(self, text: str) -> str:
        hidden = self._hidden(clean(text, 4 * MAX_ANSWER_CHARS))
        return redact(clean(hidden, MAX_ANSWER_CHARS))

    def _hidden(self, text: str) -> str:
        """Return a text without what the operator gave the server, which it may well repeat."""
        for secret in sorted(self._withheld(), key=len, reverse=True):
            text = text.replace(secret, SECRET)
        return text

    def _innermost(self, error: BaseException) -> str:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        said = self._hidden(clean(str(error), 2000))
        return one_line(redact(clean(said, 300)), 200) or type(error).__name__


@dataclass
class _Opened:
    """A transport whose streams are open, as the SDK's client takes one."""

    read: Any
    write: Any

    async def __aenter__(self) -> tuple[Any, Any]:
        return self.read, self.write

    async def __aexit__(self, *raised: object) -> None:
        """Do nothing: whoever opened the streams closes them."""


def _text_of(result: types.CallToolResult) -> str:
    parts: list[str] = []
    for block in result.content[:50]:
        if isinstance(block, types.TextContent):
            parts.append(block.text[: 4 * MAX_ANSWER_CHARS])
        elif isinstance(block, types.EmbeddedResource) and isinstance(
            block.resource, types.TextResourceContents
        ):
            parts.append(block.resource.text[: 4 * MAX_ANSWER_CHARS])
        else:
            parts.append(f"[{block.type}, not shown]")
    if not parts and result.structured_content is not None:
        with suppress(ValueError, RecursionError):
            parts.append(json.dumps(result.structured_content)[: 4 * MAX_ANSWER_CHARS])
    return "\n".join(parts) or "[nothing]"
