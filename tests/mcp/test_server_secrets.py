"""What an operator gives an MCP server to prove who they are stands in no text of it."""

import logging
import sys
from pathlib import Path

import pytest

from agent.config import load_settings
from agent.errors import ConfigError
from agent.mcp.servers import McpServers, withheld_of
from agent.records import Session
from agent.settings import McpServer
from console.settings.setting_values import value_in_force

TOKEN = "gull-over-the-north-pier"
PARROT = """
import asyncio, os
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
TOKEN = os.environ["PARROT_TOKEN"]
async def listed(context, params):
    schema = {"type": "object", "properties": {"x": {"type": "string", "description": TOKEN}}}
    tool = types.Tool(name="say", description="Takes " + TOKEN, input_schema=schema)
    return types.ListToolsResult(tools=[tool])
async def call(context, params):
    if params.arguments:
        raise ValueError("not with " + TOKEN)
    split = TOKEN[:5] + "\\x1b[0m" + TOKEN[5:]
    return types.CallToolResult(content=[types.TextContent(type="text", text=TOKEN + " " + split)])
server = Server("parrot", version="1", on_list_tools=listed, on_call_tool=call)
async def main():
    async with stdio_server() as streams:
        await server.run(*streams, server.create_initialization_options())
asyncio.run(main())
"""


async def test_a_server_that_repeats_its_token_repeats_it_to_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARROT_TOKEN", TOKEN)
    parrot = McpServer(command=(sys.executable, "-c", PARROT), env=("PARROT_TOKEN",))
    servers = McpServers({"parrot": parrot}, tmp_path)
    session = Session(session_id="s", goal="x", created_ms=0, tool_servers=("parrot",))
    async with servers.open(session, "") as box:
        (tool,) = box.tools.values()
        answer = await box.call(tool, {})
        failed = await box.call(tool, {"x": "y"})
        said = f"{tool.description} {tool.schema} {answer.text} {failed.text} {box.troubles}"
    assert said.count("[SECRET]") >= 4, said
    assert TOKEN not in said and TOKEN[5:] not in said, said


@pytest.mark.parametrize(
    ("server", "values", "withheld"),
    [
        (
            McpServer(url="https://a.example/mcp", headers=("Authorization",)),
            {"Authorization": "Bearer north-pier"},
            {"Bearer north-pier", "north-pier"},
        ),
        (
            McpServer(url="https://me:north%20pier@a.example/mcp?api_key=gull%20six&page=number"),
            {},
            {"north%20pier", "north pier", "gull%20six", "gull six"},
        ),
        (
            McpServer(command=("serve", "--token", "north-pier", "--api-key=gull-six", "/srv")),
            {"HOME_OF_GULLS": "/srv/gulls", "GULL_SECRET": "herring"},
            {"north-pier", "gull-six", "herring"},
        ),
        (McpServer(command=("serve", "/srv/notes")), {}, set()),
    ],
)
def test_what_is_withheld(server: McpServer, values: dict[str, str], withheld: set[str]) -> None:
    assert withheld_of(server, values) == withheld


@pytest.mark.parametrize("field", ["headers", "env"])
def test_a_value_where_a_name_belongs_is_refused_unseen(tmp_path: Path, field: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(
        f'[mcp.servers.a]\nurl = "https://a.example/mcp"\n{field} = ["TOKEN={TOKEN}"]\n'
    )
    with pytest.raises(ConfigError) as refused:
        load_settings(config_file=file, environ={})
    assert TOKEN not in f"{refused.value.message} {refused.value.remedy}"
    assert "mcp.servers" in refused.value.message


def test_settings_name_the_servers_and_show_nothing_of_them(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f'[mcp.servers.gulls]\nurl = "https://a.example/mcp?token={TOKEN}"\n')
    shown = value_in_force(load_settings(config_file=file, environ={}), "mcp.servers")
    assert shown == "gulls: set, not shown"


def test_addresses_that_are_asked_are_not_logged() -> None:
    import agent.mcp.connection

    assert agent.mcp.connection.MAX_TOOLS
    assert not logging.getLogger("httpx2").isEnabledFor(logging.INFO)
