"""`switchboard serve`: the ops over HTTP, for the operator's own programs."""

import click

from agent.errors import ConfigError
from agent.extras import install, is_installed, missing
from console.cli_support.exits import ExitCode, end, say
from console.core.command_settings import settings_for
from console.core.device_setup import EVERYTHING
from console.core.host import Host, run_with_host
from console.terminal.signals import StopRequest


@click.command(
    epilog="""\b
Examples:
  switchboard serve --http
  curl -H "Authorization: Bearer $(cat ~/.local/share/switchboard/http-token)" \\
       http://127.0.0.1:8432/v1/overview

A client with the token acts with your rights; give agents 'switchboard mcp' instead.
Exit codes: 0 ended with ctrl+c, 1 could not be served, 2 invalid option.
"""
)
@click.option("--http", is_flag=True, help="Over HTTP on this machine, with a token; the default.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8432,
    show_default=True,
    help="The port; 0 for any free one.",
)
@click.pass_context
def serve(ctx: click.Context, http: bool, port: int) -> None:
    """Serve every op and look-up over HTTP, described by OpenAPI.

    Attaches to the running core, or opens one.
    """
    from agent.rpc.credentials import credentials_of
    from agent.rpc.places import place_of
    from console.loopback.tokens import HTTP_TOKEN

    if not is_installed("http"):
        raise ConfigError(missing("http"), install("http"))
    from console.http_api.app import HttpApi, serving

    settings = settings_for(ctx)

    async def work(host: Host, stop: StopRequest) -> ExitCode:
        token = HTTP_TOKEN.of(settings.data_dir)
        with stop.graceful():
            async with serving(
                HttpApi(place_of(settings), credentials=credentials_of(settings)), token, port=port
            ) as address:
                shown = HTTP_TOKEN.shown_as(settings.data_dir)
                say(f"Send the token of {shown} as Authorization: Bearer TOKEN.")
                say("Stop it with ctrl+c.")
                click.echo(address)
                was_asked = await host.until_stopped(stop)
        return ExitCode.DONE if was_asked else ExitCode.FAILED

    end(run_with_host(settings, EVERYTHING, work))
