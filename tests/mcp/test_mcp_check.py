"""`switchboard mcp check`: in a shell and in the palette, what `doctor` says of MCP servers."""

import sys
from pathlib import Path

import click
import pytest
import tomlkit
from click.testing import CliRunner, Result

from console.cli import cli
from console.palette.commands import verbs, why_not
from tests.mcp.test_both_eras import MODERN


def check(folder: Path, servers: dict[str, str], *names: str) -> Result:
    """Run the command with servers that are Python programs."""
    file = folder / "config.toml"
    commands = {
        name: {"command": [sys.executable, "-c", program]} for name, program in servers.items()
    }
    file.write_text(tomlkit.dumps({"mcp": {"servers": commands}}))
    line = ["--config", str(file), "--data-dir", str(folder / "data"), "mcp", "check", *names]
    return CliRunner().invoke(cli, line)


def test_each_server_says_its_tools_or_its_trouble(tmp_path: Path) -> None:
    servers = {"good": MODERN, "bad": "raise SystemExit('no database')"}
    result = check(tmp_path, servers)
    assert result.exit_code == 1
    good, bad = sorted(result.output.splitlines(), reverse=True)
    assert good == "good: 1 tool: count"
    assert bad.startswith("bad: ") and "no database" in bad
    assert check(tmp_path, servers, "good").exit_code == 0


@pytest.mark.parametrize("servers", [{}, {"good": MODERN}])
def test_a_server_that_there_is_not_is_named_with_those_that_there_are(
    tmp_path: Path, servers: dict[str, str]
) -> None:
    result = check(tmp_path, servers, "nots")
    assert result.exit_code != 0
    assert "'nots'" in str(result.exception) + result.output
    assert all(name in str(result.exception) + result.output for name in servers)


def test_the_palette_offers_it() -> None:
    [verb] = [verb for verb in verbs() if verb.path == "mcp check"]
    assert isinstance(verb.command, click.Command)
    assert why_not(verb.path, is_web=False, lends=True) == ""
