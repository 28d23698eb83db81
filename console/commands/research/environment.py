"""`switchboard env`: virtual phones as an environment for programs that learn or evaluate."""

import os

import click

from agent.errors import UsageError
from agent.extras import install, is_installed, missing
from agent.text import counted
from console.cli_support import plain
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.sections import CommandGroup
from console.core.command_settings import settings_for
from console.terminal.signals import StopRequest, run_async

DEFAULT_PORT = 8440
WAYS = ("in-process", "adb")


@click.group("env", cls=CommandGroup)
def environment() -> None:
    """Serve virtual phones as an environment for training and evaluation."""


@environment.command(
    epilog="""\b
Clients send the token as 'Authorization: Bearer TOKEN'; docs/environment.md says which variables of
android_env are read.
Examples:
  switchboard env serve --phones 4
  switchboard env serve --no-token --port 0
  switchboard env serve --phones 4 --way adb
  ANDROID_TASK_PATH=my-app.toml switchboard env serve
"""
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=DEFAULT_PORT,
    show_default=True,
    help="The port; 0 for any free one.",
)
@click.option(
    "--phones",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Virtual phones, one per client.",
)
@click.option(
    "--session",
    "session_s",
    type=click.FloatRange(1, 86_400),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="How long a session may be inactive before it loses its phone.",
)
@click.option(
    "--way",
    type=click.Choice(WAYS),
    help="Where virtual phones run: in this process (default; faster, own clock) or behind adb.",
)
@click.option("--no-token", is_flag=True, help="Do not require a token; on loopback only.")
@click.pass_context
def serve(
    ctx: click.Context,
    *,
    host: str,
    port: int,
    phones: int,
    session_s: float,
    way: str | None,
    no_token: bool,
) -> None:
    """Serve phones to OpenEnv's clients: WebSocket, HTTP, tasks, MCP (extra 'openenv')."""
    if no_token and host not in {"127.0.0.1", "::1", "localhost"}:
        raise click.UsageError("--no-token works on loopback only.", ctx=ctx)
    if not is_installed("openenv"):
        raise UsageError(missing("openenv"), install("openenv"))
    from agent.devices.pool.virtual_command import virtual_phone_command
    from console.openenv.serving import TOKEN, ServeOptions, serving
    from console.openenv.variables import VIRTUAL, read_variables

    # What is said on the command line outweighs what the environment says.
    environ = {**os.environ, **({"SWITCHBOARD_ENV_WAY": way} if way else {})}
    variables = read_variables(environ)
    if variables.avd_name == VIRTUAL and not variables.in_process:
        virtual_phone_command()
    settings = settings_for(ctx)
    token = "" if no_token else TOKEN.of(settings.data_dir)
    wanted = ServeOptions(phones=phones, token=token, session_s=session_s)

    async def work(stop: StopRequest) -> ExitCode:
        say(f"Starting {counted(phones, 'phone')} …")
        with stop.graceful():
            async with serving(settings, wanted, environ, host=host, port=port) as address:
                if token:
                    say(f"The token: {TOKEN.shown_as(settings.data_dir)}")
                say("Stop it with ctrl+c. Serving at:")
                plain.print_text(address)
                await stop.asked.wait()
        return ExitCode.DONE

    end(run_async(work))
