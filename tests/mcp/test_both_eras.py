"""Servers of both eras of MCP are reached, and one that ends says why."""

import json
import sys

import pytest

from agent.mcp.connection import ServerTrouble
from agent.mcp.server_checks import examine_servers
from agent.mcp.servers import connection_to
from agent.settings import McpServer

# What the specification of 2026-07-28 has instead of a handshake: `server/discover`, and the
# version in each request. A server of that era alone knows no `initialize`.
MODERN = """
import json, sys
TOOL = {"name": "count", "inputSchema": {"type": "object", "properties": {}}}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    said = {
        "server/discover": {
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "modern", "version": "1"},
            "ttlMs": 0,
            "cacheScope": "private",
        },
        "tools/list": {
            "resultType": "complete", "tools": [TOOL], "ttlMs": 0, "cacheScope": "private",
        },
        "tools/call": {"resultType": "complete", "content": [{"type": "text", "text": "three"}]},
    }.get(asked["method"])
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    if said is None:
        answer["error"] = {"code": -32601, "message": "no such method"}
    else:
        answer["result"] = said
    print(json.dumps(answer), flush=True)
"""
# The handshake of the versions before it.
LEGACY = """
import json, sys
TOOL = {"name": "count", "inputSchema": {"type": "object", "properties": {}}}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    said = {
        "initialize": {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "legacy", "version": "1"},
        },
        "tools/list": {"tools": [TOOL]},
        "tools/call": {"content": [{"type": "text", "text": "three"}]},
    }.get(asked["method"])
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    if said is None:
        answer["error"] = {"code": -32601, "message": "no such method"}
    else:
        answer["result"] = said
    print(json.dumps(answer), flush=True)
"""


def server(program: str, **more: object) -> McpServer:
    return McpServer(command=(sys.executable, "-c", program), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("program", [MODERN, LEGACY], ids=["2026-07-28 only", "the handshake only"])
async def test_a_server_of_either_era_is_reached(program: str) -> None:
    connection = connection_to("one", server(program))
    try:
        [tool] = await connection.open()
        assert tool.full_name == "one.count"
        assert (await connection.call("count", {})).text == "three"
    finally:
        await connection.close()


async def test_a_server_that_ends_at_its_start_says_why() -> None:
    connection = connection_to("one", server("raise SystemExit('DATABASE_URL is not set')"))
    with pytest.raises(ServerTrouble, match="DATABASE_URL is not set"):
        await connection.open()
    await connection.close()


async def test_each_server_of_the_settings_is_examined() -> None:
    servers = {
        "good": server(MODERN),
        "bad": server("raise SystemExit('no database')"),
        "absent": McpServer(command=("no-such-program-anywhere",)),
    }
    good, bad, absent = await examine_servers(servers)
    assert (good.tools, good.trouble) == (("count",), "")
    assert "no database" in bad.trouble
    assert absent.trouble


async def test_a_secret_in_the_last_words_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONE_TOKEN", "a1b2c3d4e5f6")
    program = "import os; raise SystemExit('refused: ' + os.environ['ONE_TOKEN'])"
    connection = connection_to("one", server(program, env=("ONE_TOKEN",)))
    with pytest.raises(ServerTrouble, match="refused") as caught:
        await connection.open()
    await connection.close()
    assert "a1b2c3d4e5f6" not in str(caught.value)


async def test_last_words_without_end_are_bounded() -> None:
    program = "import sys; sys.stderr.write('x' * 5_000_000); raise SystemExit(json)"
    connection = connection_to("one", server(program))
    with pytest.raises(ServerTrouble) as caught:
        await connection.open()
    await connection.close()
    assert len(str(caught.value)) < 1000
    assert json.dumps(str(caught.value)).isascii()
