"""Serve MCP over this process's stdin and stdout, for as long as the client keeps them open."""

from __future__ import annotations

from mcp.server.stdio import stdio_server

from console.mcp.server import PhoneServer


async def serve_stdio(server: PhoneServer) -> None:
    """Serve one client until it closes its end."""
    async with stdio_server() as (read, write):
        await server.server.run(read, write, server.server.create_initialization_options())
