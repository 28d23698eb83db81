"""`switchboard web`: the console in a browser of this machine.

Invariants: a tab only looks unless the command was told otherwise; the token is printed once and
stands neither in a process list nor in a log.
"""

import json
import shlex
import sys

import click
from msgspec.structs import replace

from agent.core import Core
from agent.errors import ConfigError, RuntimeDiedError
from agent.extras import install, is_installed, missing
from console.cli_support.exits import ExitCode, end, say
from console.cli_support.options import JSON_OPTION
from console.core.command_settings import settings_for
from console.core.device_setup import EVERYTHING
from console.core.host import Host, attach, run_with_host
from console.terminal.signals import StopRequest

DEFAULT_PORT = 8430


@click.command(
    epilog="""\b
Examples:
  switchboard web                       look, on this machine
  switchboard web --drive               answer, approve and take the wheel as well
  ssh -L 8430:localhost:8430 rackhost   then open the printed address here

Anyone with the printed address sees your phones, and with --drive acts with your rights. It changes
with every start. Exit codes: 0 ended with ctrl+c, 1 could not be served, 2 invalid option.
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
@click.option("--drive", is_flag=True, help="Let tabs act; default: read-only.")
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="HOST",
    help="Another host name that clients use, as behind a proxy.",
)
@click.option(
    "--phones", type=click.IntRange(0, 64), default=0, metavar="N", help="Start N virtual phones."
)
@click.option("--virtual-only", is_flag=True, help="Use virtual phones only, no other adb server.")
@JSON_OPTION
@click.pass_context
def web(
    ctx: click.Context,
    host: str,
    port: int,
    drive: bool,
    names: tuple[str, ...],
    phones: int,
    virtual_only: bool,
    as_json: bool,
) -> None:
    """Serve the console to a browser.

    Every tab is a console on the same sessions. Attaches to the running core, or runs one while it
    serves.
    """
    from agent.runtime.read_only_core import LookingCore
    from console.keys.keymap import read_keymap

    if not is_installed("web"):
        raise ConfigError(missing("web"), install("web"))
    from console.commands.servers.web_tab import INSTEAD
    from console.web.server import serving
    from console.web.touch_acts import touch_acts

    settings = settings_for(ctx)
    # What is wrong in it would end every tab, and say so where nobody reads.
    keys = read_keymap(settings.config_file)
    line = [
        sys.executable,
        "-m",
        "console.commands.servers.web_tab",
        "--data-dir",
        str(settings.data_dir),
    ]
    line += ["--config", str(settings.config_file)] if settings.config_file.exists() else []
    line += ["--core", settings.core.address] if settings.core.address else []
    line += ["--drive"] if drive else []

    async def open_core() -> Core:
        client = await attach(settings)
        if client is None:
            raise RuntimeDiedError("The core has ended.", "Start 'switchboard web' again.")
        return client if drive else LookingCore(client, remedy=INSTEAD)

    async def work(on: Host, stop: StopRequest) -> ExitCode:
        with stop.graceful():
            async with serving(
                # Without a shell in between, a tab sees at once that its server is gone.
                f"exec {shlex.join(line)}",
                host=host,
                port=port,
                names=frozenset({host, *names}),
                title="Switchboard",
                open_core=open_core,
                may_drive=drive,
                acts=touch_acts(keys, may_drive=drive),
            ) as address:
                say("Tabs act with your rights." if drive else f"Tabs are read-only. {INSTEAD}")
                say("Open this address; stop with ctrl+c:")
                click.echo(json.dumps({"url": address, "drive": drive}) if as_json else address)
                was_asked = await on.until_stopped(stop)
        if was_asked:
            return ExitCode.DONE
        say("The core has ended, and with it the consoles in the browser.")
        return ExitCode.FAILED

    end(
        run_with_host(
            settings, replace(EVERYTHING, connected=not virtual_only, phones=phones), work
        )
    )
