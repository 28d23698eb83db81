#!/bin/sh
# The MCP SDK for Python, from 2.0 on, and what a tool's exception says.
#
# A server for phones raises RuntimeError("phone 7 is offline: plug it in"). Expected by whoever ported
# a server from 1.x: the model reads that sentence, as it did. Seen: it reads only that the tool failed;
# the reason stands in the server's log. Only ToolError is passed on. Servers of 2026 that raise others
# (nexus-android's `messages`, for one) fail without a reason.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/ask.py" <<'PYTHON'
import asyncio
import sys
from importlib.metadata import version

TWO = version("mcp").startswith("2")
if TWO:
    from mcp import Client
    from mcp.server.mcpserver import MCPServer as Server
    from mcp.server.mcpserver.exceptions import ToolError
else:
    from mcp.server.fastmcp import FastMCP as Server
    from mcp.server.fastmcp.exceptions import ToolError
    from mcp.shared.memory import create_connected_server_and_client_session

server = Server("phones", log_level="CRITICAL")


@server.tool()
def battery(number: int) -> str:
    """Tell the battery of a phone."""
    raise RuntimeError(f"phone {number} is offline: plug it in")


@server.tool()
def unlock(number: int) -> str:
    """Unlock a phone."""
    raise ToolError(f"phone {number} is offline: plug it in")


async def ask():
    if TWO:
        async with Client(server) as client:
            return [await client.call_tool(name, {"number": 7}) for name in ("battery", "unlock")]
    async with create_connected_server_and_client_session(server._mcp_server) as client:
        return [await client.call_tool(name, {"number": 7}) for name in ("battery", "unlock")]


said = [answer.content[0].text for answer in asyncio.run(ask())]
print("mcp", version("mcp"))
print("  RuntimeError:", said[0])
print("  ToolError:   ", said[1])
told = ["plug it in" in one for one in said]
sys.exit(told != ([False, True] if TWO else [True, True]))
PYTHON
for release in 1.27.0 2.3.0; do
    python3 -m venv "$folder/$release"
    "$folder/$release/bin/pip" install --quiet "mcp==$release"
    "$folder/$release/bin/python" "$folder/ask.py" 2>"$folder/log" || { cat "$folder/log"; exit 1; }
done
