"""`switchboard mcp`: phones and sessions for any agent that speaks MCP, with a person behind it."""

from __future__ import annotations

from importlib.metadata import version

import click

from agent.core import Core
from agent.errors import ConfigError
from agent.extras import install, missing
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.sections import CommandGroup
from console.commands.mcp_install import install_command
from console.commands.servers.mcp_check import check_command
from console.core.command_settings import settings_for
from console.core.device_setup import EVERYTHING
from console.core.host import Host, run_with_host
from console.terminal.signals import StopRequest


@click.group(
    cls=CommandGroup,
    invoke_without_command=True,
    epilog="""\b
Examples:
  switchboard mcp                        # the client starts this and speaks over its pipes
  switchboard mcp --tools phone          # only the tools that act on a phone
  switchboard mcp --http                 # one server for many clients, on this machine
  switchboard mcp install claude-code    # register it with a client
""",
)
@click.option(
    "--tools",
    type=click.Choice(["all", "phone", "sessions"]),
    default="all",
    show_default=True,
    help="Which tools the client gets.",
)
@click.option("--http", is_flag=True, help="Serve over HTTP on this machine, with a token.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8431,
    show_default=True,
    help="With --http: the port; 0 for any free one.",
)
@click.pass_context
def mcp(ctx: click.Context, tools: str, http: bool, port: int) -> None:
    """Serve phones and sessions to MCP clients, over stdin and stdout or over HTTP.

    Every call is a step of a session on the Deck: checked, approved, recorded and
    stopped like any other. Attaches to the running core, or opens one.
    """
    if ctx.invoked_subcommand is not None:
        return
    from console.loopback.tokens import MCP_TOKEN

    try:
        from console.mcp.clients import Clients, HttpClients, OneClient
        from console.mcp.server import PhoneServer
        from console.mcp.serving import serve_stdio
    except ModuleNotFoundError as error:
        raise ConfigError(missing("mcp"), install("mcp")) from error
    from console.mcp.tool import Connection

    settings = settings_for(ctx)
    exports = settings.data_dir / "exports"

    def serving(host: Host, clients: Clients) -> PhoneServer:
        from agent.knowledge.library import DIRECTORY, load

        return PhoneServer(
            clients,
            load(settings.config_file.parent / DIRECTORY),
            version=version("switchboard-console"),
            phones=tools != "sessions",
            sessions=tools != "phone",
            sees=settings.model.vision,
        )

    async def over_pipes(host: Host, _stop: StopRequest) -> ExitCode:
        await host.speak_for("model")
        await serve_stdio(serving(host, OneClient(Connection(host.core, exports=exports))))
        return ExitCode.DONE

    async def over_http(host: Host, stop: StopRequest) -> ExitCode:
        from agent.rpc.credentials import TokenShown, credentials_of
        from agent.rpc.places import place_of
        from agent.rpc.remote_core import Client
        from console.mcp.http import serving_http

        async def open_core(program: str, token: str) -> Core:
            return await Client.connect(
                place_of(settings),
                name=program,
                credentials=TokenShown(token) if token else credentials_of(settings),
                speaks_for="model",
            )

        token = MCP_TOKEN.of(settings.data_dir)
        clients = HttpClients(open_core, exports=exports)
        with stop.graceful():
            async with serving_http(serving(host, clients), clients, token, port=port) as address:
                shown = MCP_TOKEN.shown_as(settings.data_dir)
                say(f"Clients send the token of {shown} as Authorization: Bearer TOKEN.")
                say("Stop it with ctrl+c.")
                click.echo(address)
                was_asked = await host.until_stopped(stop)
        return ExitCode.DONE if was_asked else ExitCode.FAILED

    end(run_with_host(settings, EVERYTHING, over_http if http else over_pipes))


mcp.add_command(install_command)
mcp.add_command(check_command)
