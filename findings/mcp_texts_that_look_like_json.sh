#!/bin/sh
# The MCP SDK for Python, and a text to type that looks like JSON.
#
# A tool type_text(text: str | None = None) is called with the text "null", with "[1]" (a footnote) and
# with "42". Expected: the tool gets the text. Seen: it gets None; the call fails, since the text became
# a list; it gets "42". Only parameters annotated as plain `str` are left alone; one that takes anything
# gets a dict for '{"a": 1}'. The client's call is right in each case.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install --quiet mcp==2.3.0
"$folder/env/bin/python" - 2> "$folder/log" <<'PYTHON' || { cat "$folder/log"; exit 1; }
import asyncio
import sys
from importlib.metadata import version
from typing import Any

from mcp import Client
from mcp.server.mcpserver import MCPServer

server = MCPServer("phones", log_level="CRITICAL")


@server.tool()
def type_text(text: str | None = None) -> str:
    """Type a text."""
    return repr(text)


@server.tool()
def type_plain(text: str) -> str:
    """Type a text that must be given."""
    return repr(text)


@server.tool()
def type_any(text: Any) -> str:
    """Type whatever it is."""
    return repr(text)


CALLS = {
    ("type_plain", "null"): "'null'",
    ("type_plain", "[1]"): "'[1]'",
    ("type_text", "null"): "None",
    ("type_text", "[1]"): "an error",
    ("type_text", "42"): "'42'",
    ("type_any", '{"a": 1}'): "{'a': 1}",
}


async def ask():
    seen = {}
    async with Client(server) as client:
        for name, text in CALLS:
            answer = await client.call_tool(name, {"text": text})
            seen[name, text] = "an error" if answer.is_error else answer.content[0].text
            print(f"  {name}({text!r}): {seen[name, text]}")
    return seen


print("mcp", version("mcp"))
sys.exit(asyncio.run(ask()) != CALLS)
PYTHON
