"""The operator's MCP servers, and the tools that one turn is lent of them.

Invariants: a server is one of the settings file and no other, so no goal, phone or model can name a
program to start; it is started for a turn whose session or app was given it, and ends with the
turn; a server that fails takes its tools away and nothing else.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, unquote_plus, urlsplit

from msgspec.structs import replace

from agent.errors import ConfigError
from agent.mcp.pins import Pins
from agent.records import DIRECT, Session
from agent.settings import McpServer
from agent.tools.foreign import EmptyToolbox, ForeignAnswer, ForeignTool, Toolbox

if TYPE_CHECKING:
    from agent.mcp.connection import ServerConnection

KEYRING_SERVICE = "switchboard-mcp"
_LEAST_CHARS = 6  # Shorter values are words that any text may hold.
_NAMES_A_SECRET = re.compile(r"(?i)key|token|secret|passw|passphrase|auth|bearer|credential")


class McpServers:
    """The servers of a settings file; implements ToolServers.

    Args:
        servers: by name.
        data_dir: where it is kept what they said of their tools.
    """

    def __init__(self, servers: Mapping[str, McpServer], data_dir: Path) -> None:
        self._servers = dict(servers)
        self._pins = Pins(data_dir)

    @asynccontextmanager
    async def open(self, session: Session, package: str) -> AsyncIterator[Toolbox]:
        """Lend a turn the tools of the servers that its session or its app was given."""
        chosen = {
            name: server
            for name, server in self._servers.items()
            if name in session.tool_servers or (package and package in server.apps)
        }
        if not chosen or session.model.startswith(DIRECT):
            yield EmptyToolbox()
            return
        try:
            import agent.mcp.connection  # noqa: F401
        except ModuleNotFoundError:
            yield _McpToolbox(
                {}, {}, self._pins, ("MCP servers need: pip install 'switchboard-console[mcp]'.",)
            )
            return
        connections = {name: connection_to(name, server) for name, server in chosen.items()}
        try:
            box = await self._filled(connections, chosen)
            yield box
        finally:
            await asyncio.gather(*(one.close() for one in connections.values()))

    async def _filled(
        self, connections: Mapping[str, ServerConnection], chosen: Mapping[str, McpServer]
    ) -> _McpToolbox:
        from agent.mcp.connection import MAX_TOOLS, ServerTrouble

        opened = await asyncio.gather(
            *(one.open() for one in connections.values()), return_exceptions=True
        )
        tools: dict[str, ForeignTool] = {}
        troubles: list[str] = []
        known = self._pins.known()
        new: dict[str, str] = {}
        for (name, connection), found in zip(connections.items(), opened, strict=True):
            troubles += connection.troubles[:MAX_TOOLS]
            if isinstance(found, ServerTrouble | ConfigError | OSError):
                troubles.append(str(found))
                continue
            if isinstance(found, BaseException):
                raise found
            server = chosen[name]
            wanted = [one for one in found if not server.tools or one.name in server.tools]
            if len(wanted) > MAX_TOOLS:
                troubles.append(
                    f"The MCP server {name} has {len(wanted)} tools, and the first {MAX_TOOLS} are "
                    f"offered: choose with mcp.servers.{name}.tools."
                )
            for one in wanted[:MAX_TOOLS]:
                accepted = known.get(one.full_name)
                if accepted is None:
                    new[one.full_name] = one.digest
                changed = accepted is not None and accepted != one.digest
                if changed:
                    troubles.append(
                        f"The tool {one.full_name} is not as it was: its description or schema "
                        "has changed. Each call is asked about until you approve one."
                    )
                tools[one.full_name] = replace(
                    one,
                    changed=changed,
                    reads_only=one.name in server.read_only and not changed,
                    trusted=one.name in server.trusted and not changed,
                )
        if new:
            await asyncio.to_thread(self._pins.add, new)
        return _McpToolbox(tools, connections, self._pins, tuple(troubles))


class _McpToolbox:
    """The tools of one turn's servers; implements Toolbox."""

    def __init__(
        self,
        tools: Mapping[str, ForeignTool],
        connections: Mapping[str, ServerConnection],
        pins: Pins,
        troubles: tuple[str, ...],
    ) -> None:
        self._tools = dict(tools)
        self._connections = connections
        self._pins = pins
        self.troubles = troubles

    @property
    def tools(self) -> Mapping[str, ForeignTool]:
        """The tools, by full name."""
        return self._tools

    async def call(self, tool: ForeignTool, arguments: Mapping[str, Any]) -> ForeignAnswer:
        """Call a tool; the tools of a server that has failed are gone."""
        from agent.mcp.connection import ServerTrouble

        connection = self._connections[tool.server]
        try:
            return await connection.call(tool.name, arguments)
        except ServerTrouble as trouble:
            for name in [key for key, one in self._tools.items() if one.server == tool.server]:
                del self._tools[name]
            return ForeignAnswer(text=f"{trouble} Its tools are gone.", failed=True)

    async def accept(self, tool: ForeignTool) -> None:
        """Keep what the server now says of a tool as accepted."""
        await asyncio.to_thread(self._pins.add, {tool.full_name: tool.digest})
        self._tools[tool.full_name] = replace(tool, changed=False)


def withheld_of(server: McpServer, values: Mapping[str, str]) -> frozenset[str]:
    """Return what no text about a server may show.

    Args:
        values: of its headers and environment variables, by name.
    """
    found = set[str]()
    for name, value in values.items():
        if name in server.headers or _NAMES_A_SECRET.search(name):
            found |= {value, *value.split()[1:]}
    address = urlsplit(server.url)
    found |= {address.password or "", unquote(address.password or "")}
    for written in address.query.split("&"):
        name, _, value = written.partition("=")
        if _NAMES_A_SECRET.search(name):
            found |= {value, unquote_plus(value)}
    for option, value in pairwise((*server.command, "")):
        name, _, given = option.partition("=")
        if _NAMES_A_SECRET.search(name):
            found.add(given or value)
    return frozenset(secret for secret in found if len(secret) >= _LEAST_CHARS)


def connection_to(name: str, server: McpServer) -> ServerConnection:
    """Return a connection to a server of the settings, not yet opened."""
    from agent.mcp.bounded import ErrorTail, over_http, over_pipes
    from agent.mcp.connection import ServerConnection

    gave: dict[str, str] = {}  # Headers and environment variables, once it was given them.
    errors = ErrorTail()

    def opened() -> AbstractAsyncContextManager[Any]:
        if server.url:
            gave.update(headers_of(name, server))
            return over_http(server.url, gave, server.timeout_s)
        given = {key: os.environ[key] for key in server.env if key in os.environ}
        gave.update(given)
        return over_pipes(server.command, given, errors)

    return ServerConnection(
        name,
        opened,
        timeout_s=server.timeout_s,
        connect_s=server.startup_timeout_s,
        withheld=partial(withheld_of, server, gave),
        errors=errors,
    )


def headers_of(name: str, server: McpServer) -> dict[str, str]:
    """Return the headers of a server from the system's keyring. Raises ConfigError."""
    if not server.headers:
        return {}
    import keyring
    from keyring.errors import KeyringError

    found: dict[str, str] = {}
    for header in server.headers:
        try:
            value = keyring.get_password(KEYRING_SERVICE, f"{name}/{header}")
        except KeyringError as error:
            raise ConfigError(f"The keyring cannot be read: {error}.", "Unlock it.") from error
        if not value:
            raise ConfigError(
                f"The keyring has no {header} for the MCP server {name}.",
                f"Store it: keyring set {KEYRING_SERVICE} {name}/{header}",
            )
        found[header] = value
    return found
