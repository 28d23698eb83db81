"""Examine the MCP servers of the settings: does each start, and which tools does it offer.

Invariant: a server is started for its check, ended after it, and keeps no other from being checked.
"""

import asyncio
from collections.abc import Mapping

from agent.errors import SwitchboardError
from agent.mcp.connection import ServerTrouble
from agent.mcp.servers import connection_to
from agent.records.record import Record
from agent.settings import McpServer
from agent.text import one_line


class ServerCheck(Record, frozen=True, kw_only=True):
    """What came of one server."""

    name: str
    tools: tuple[str, ...] = ()
    trouble: str = ""
    """Why it cannot be used, with its last words; empty where it can."""


async def examine_servers(servers: Mapping[str, McpServer]) -> tuple[ServerCheck, ...]:
    """Start each server, list its tools, and end it again."""
    return tuple(await asyncio.gather(*(_check(name, one) for name, one in servers.items())))


async def _check(name: str, server: McpServer) -> ServerCheck:
    connection = connection_to(name, server)
    try:
        tools = await connection.open()
        return ServerCheck(name=name, tools=tuple(tool.name for tool in tools))
    except (ServerTrouble, SwitchboardError, OSError) as error:
        return ServerCheck(name=name, trouble=one_line(str(error), 600))
    finally:
        await connection.close()
