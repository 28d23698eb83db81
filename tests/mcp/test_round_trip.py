"""The doctor's try of the MCP server: servers that end, are silent, or do not exist."""

import sys
from pathlib import Path

import pytest

from console.mcp.client_configs import program
from console.mcp.round_trip import round_trip


async def test_the_server_of_this_installation_answers(tmp_path: Path) -> None:
    data = tmp_path / "data"
    made = await round_trip([*program(), "mcp"], data, data / "config.toml")
    assert made.tools > 20 and not made.trouble
    assert not data.exists()


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["/nowhere/switchboard", "mcp"], "cannot be started"),
        ([sys.executable, "-c", "import sys; sys.exit('no such extra')"], "no such extra"),
        ([sys.executable, "-c", "import sys; sys.stdin.read()"], "within 1 s"),
        ([sys.executable, "-c", "print('{' * 1000000); input()"], "it closed the connection"),
    ],
)
async def test_a_server_that_does_not_answer_is_named_in_time(
    tmp_path: Path, command: list[str], says: str
) -> None:
    made = await round_trip(command, tmp_path, tmp_path / "config.toml", bound_s=1)
    assert made.tools == 0
    assert says in made.trouble
