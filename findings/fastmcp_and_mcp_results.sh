#!/bin/sh
# FastMCP, the MCP SDK below it, and one tool that is moved from one to the other.
#
# Expected: what a tool returns and what it is called with read the same, since FastMCP is built on the SDK.
# Seen: a node whose fields have the tree's own names as aliases ("content-desc") has these in the SDK's
# result and the fields' names in FastMCP's, in the schema too; of a list the SDK's text is one block an
# element and FastMCP's is JSON; a picture's bytes fail in the SDK and are base64 in FastMCP; a parameter
# that the tool does not have is passed over by the SDK and refused by FastMCP.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet mcp==2.3.0 fastmcp==4.2.3
"$folder/env/bin/python" - 2> "$folder/log" <<'PYTHON' || { cat "$folder/log"; exit 1; }
import asyncio
import logging
import sys
from importlib.metadata import version

import fastmcp
import mcp
from mcp.server.mcpserver import MCPServer
from pydantic import BaseModel, Field

PNG = bytes.fromhex("89504e470d0a1a0a")


class Node(BaseModel):
    description: str = Field(alias="content-desc")
    kind: str = Field(alias="class")


def node() -> Node:
    """Find a node."""
    return Node(**{"content-desc": "Send", "class": "android.widget.Button"})


def apps() -> list[str]:
    """List the apps."""
    return ["clock", "camera"]


def picture() -> bytes:
    """Take a picture."""
    return PNG


def tap(x: int) -> str:
    """Tap."""
    return f"tapped at {x}"


CALLS = [("node", {}), ("apps", {}), ("picture", {}), ("tap", {"x": 5, "hold": True})]
SEEN = {
    "mcp": [
        ("content-desc, class", {"content-desc": "Send", "class": "android.widget.Button"}),
        ("clock | camera", {"result": ["clock", "camera"]}),
        "an error",
        ("tapped at 5", {"result": "tapped at 5"}),
    ],
    "fastmcp": [
        ("description, kind", {"description": "Send", "kind": "android.widget.Button"}),
        ('["clock","camera"]', {"result": ["clock", "camera"]}),
        ("iVBORw0KGgo=", None),
        "an error",
    ],
}


async def ask(server, client):
    for function in (node, apps, picture, tap):
        server.tool()(function)
    seen = []
    async with client(server) as session:
        for name, arguments in CALLS:
            try:
                result = await session.call_tool(name, arguments)
            except Exception:
                seen.append("an error")
                continue
            if result.is_error:
                seen.append("an error")
                continue
            text = " | ".join(block.text for block in result.content)
            seen.append((", ".join(result.structured_content) if name == "node" else text, result.structured_content))
    return seen


logging.disable()
changed = False
for name, server, client in (
    ("mcp", MCPServer("phones"), mcp.Client),
    ("fastmcp", fastmcp.FastMCP("phones"), fastmcp.Client),
):
    print(name, version(name))
    seen = asyncio.run(ask(server, client))
    for (tool, arguments), one in zip(CALLS, seen, strict=True):
        print(f"  {tool}({arguments}): {one}")
    changed |= seen != SEEN[name]
sys.exit(changed)
PYTHON
