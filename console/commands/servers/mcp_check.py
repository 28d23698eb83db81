"""`switchboard mcp check`: start the MCP servers of the settings, and say what each offers."""

import asyncio

import click

from agent.errors import ConfigError, UsageError
from agent.extras import install, is_installed, missing
from agent.text import counted, one_line
from console.cli_support.exits import ExitCode, end
from console.core.command_settings import settings_for

_SHOWN_TOOLS = 20


@click.command(
    "check",
    epilog="""\b
Examples:
  switchboard mcp check              # every server of mcp.servers
  switchboard mcp check notes        # one of them
""",
)
@click.argument("names", nargs=-1, metavar="[SERVER]...")
@click.pass_context
def check_command(ctx: click.Context, names: tuple[str, ...]) -> None:
    """Start the MCP servers of your settings, list their tools, and end them again.

    Each is started as for a session that is given its tools. Exit status 1 if one cannot be used.
    """
    if not is_installed("mcp"):
        raise ConfigError(missing("mcp"), install("mcp"))
    from agent.mcp.server_checks import examine_servers

    settings = settings_for(ctx)
    servers = settings.mcp.servers
    strange = sorted(set(names) - set(servers))
    if strange:
        raise UsageError(
            f"There is no MCP server {one_line(strange[0], 60)!r} in the settings.",
            f"mcp.servers has {', '.join(sorted(servers)) or 'none'}.",
        )
    if not servers:
        click.echo("No MCP servers: add one below mcp.servers in the settings.")
        return
    chosen = {name: servers[name] for name in names or servers}
    found = asyncio.run(examine_servers(chosen))
    for one in found:
        more = len(one.tools) - _SHOWN_TOOLS
        listed = ", ".join(one.tools[:_SHOWN_TOOLS]) + (f" and {more} more" if more > 0 else "")
        offers = f"{counted(len(one.tools), 'tool')}{f': {listed}' if listed else ''}"
        click.echo(f"{one.name}: {one.trouble or offers}")
    end(ExitCode.FAILED if any(one.trouble for one in found) else ExitCode.DONE)
