"""`switchboard mcp install`: tell an MCP client of this server, in its own file and form."""

import asyncio
import os
import re
from pathlib import Path

import click

from agent.consent.passphrase import Passphrase
from agent.errors import ConfigError, UsageError
from agent.extras import install, is_installed, missing
from console.cli_support.exits import say
from console.core.command_settings import settings_for

_CLIENTS = ("claude-code", "codex", "cursor", "gemini", "vscode")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")


@click.command(
    "install",
    epilog="""\b
Examples:
  switchboard mcp install claude-code          # shows what it writes into .mcp.json, and asks
  switchboard mcp install codex --yes
  switchboard mcp install cursor --http        # for a server that runs: switchboard mcp --http
  switchboard mcp install vscode --print       # writes nothing
  switchboard mcp install cursor --remove
""",
)
@click.argument("client", type=click.Choice(_CLIENTS))
@click.option(
    "--http", is_flag=True, help="Connect to 'switchboard mcp --http' instead of starting a server."
)
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    default=8431,
    show_default=True,
    help="With --http: the server's port.",
)
@click.option(
    "--tools",
    type=click.Choice(["all", "phone", "sessions"]),
    default="all",
    show_default=True,
    help="Tools for the client; over HTTP set by the server's --tools.",
)
@click.option("--name", default="phone", show_default=True, help="The server's name in the client.")
@click.option(
    "--file",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Configuration file, if not the default.",
)
@click.option("--print", "only_print", is_flag=True, help="Print the entry and write nothing.")
@click.option("--remove", is_flag=True, help="Remove the entry.")
@click.option("--yes", is_flag=True, help="Write without asking.")
@click.pass_context
def install_command(
    ctx: click.Context,
    client: str,
    http: bool,
    port: int,
    tools: str,
    name: str,
    file: Path | None,
    only_print: bool,
    remove: bool,
    yes: bool,
) -> None:
    """Add this server to an MCP client's configuration.

    Shows the entry and asks first. The rest of the file is not changed, and the old file is kept
    as a backup.
    """
    from console.commands.sessions.sessions_shared import confirm
    from console.loopback.tokens import MCP_TOKEN
    from console.mcp.client_configs import CLIENTS
    from console.mcp.config_files import changed, fragment, read, write

    if not _NAME.fullmatch(name):
        raise UsageError(
            f"The name {name!r} cannot be used.", "Use 1 to 40 letters, digits, - and _."
        )
    if only_print and remove:
        raise UsageError("--print and --remove exclude each other.", "Leave one out.")
    config = CLIENTS[client]
    path = file or config.path()
    if remove:
        was = read(path)
        without = changed(was, config.table, name, None, toml=config.is_toml, where=str(path))
        if without == was:
            say(f"{path} has no server {name}.")
            return
        asyncio.run(confirm(f"Remove the server {name} from {path}?", yes=yes))
        say(f"Removed. The old file is in {write(path, without, was=was)}.")
        return
    if not is_installed("mcp"):
        raise ConfigError(missing("mcp"), install("mcp"))
    if http:
        entry = config.over_http(f"http://127.0.0.1:{port}/mcp")
    else:
        entry = config.over_pipes([] if tools == "all" else ["--tools", tools], _places(ctx))
    click.echo(fragment(config.table, name, entry, toml=config.is_toml), nl=False)
    if http:
        kept = MCP_TOKEN.file(settings_for(ctx).data_dir)
        say(f'{config.title} needs the token: export {MCP_TOKEN.variable}="$(cat {kept})"')
    if only_print:
        return
    was = read(path)
    new = changed(was, config.table, name, entry, toml=config.is_toml, where=str(path))
    if new == was:
        say(f"{path} already has it.")
        return
    asyncio.run(confirm(f"Write it into {path}?", yes=yes))
    beside = write(path, new, was=was)
    say(f"Written. {f'The old file is in {beside}. ' if beside else ''}Restart {config.title}.")
    if not Passphrase(settings_for(ctx).data_dir).is_set:
        say(
            "Choose a passphrase first, so that no program can approve for you: "
            "switchboard operators unlock"
        )


def _places(ctx: click.Context) -> dict[str, str]:
    """Return where this call finds Switchboard's files, where that is not the usual place."""
    said = ctx.find_root().obj or {}
    named = {"SWITCHBOARD_CONFIG": said.get("config"), "SWITCHBOARD_DATA_DIR": said.get("data_dir")}
    found = {name: value or os.environ.get(name, "") for name, value in named.items()}
    return {
        name: str(Path(value).expanduser().absolute()) for name, value in found.items() if value
    }
