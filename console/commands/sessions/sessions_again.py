"""`switchboard sessions replay`: do what a session did again, on a phone."""

from secrets import token_hex
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from agent.protocol import SessionReplay
from console.cli_support.exits import ExitCode, end
from console.commands.sessions.sessions_shared import SESSION_ID
from console.core.command_settings import settings_for
from console.core.device_setup import Devices, devices_for
from console.core.host import Host
from console.terminal.signals import StopRequest, run_async

if TYPE_CHECKING:
    from agent.store.store import Store


@click.command(
    "replay",
    epilog="""\b
Examples:
  switchboard sessions replay 3f2a
  switchboard sessions replay 3f2a --on emulator-5554
""",
)
@SESSION_ID
@click.option(
    "--on", "serial", default="", metavar="SERIAL", help="The phone; default: the one it used."
)
@click.option("--quiet", "-q", is_flag=True, help="Print the outcome only.")
@click.pass_context
def replay(ctx: click.Context, session_id: str, serial: str, quiet: bool) -> None:
    """Repeat a session's actions on a phone, finding elements by identity.

    A new session repeats the actions and asks its model only where the screen differs. Exit codes
    are those of 'run'.
    """
    from console.runs.run import pursue_new
    from console.runs.run_follower import FollowOptions

    settings = settings_for(ctx)
    options = FollowOptions(quiet=quiet, answer_timeout_s=settings.run.answer_timeout_s)

    async def choose(store: "Store") -> Devices:
        then = await devices_for(store, settings, session_id)
        return replace(then, connected=then.connected or bool(serial))

    request_id = token_hex(8)

    async def begin(host: Host) -> str:
        origin = await host.core.session(session_id)
        op = SessionReplay(session_id=origin.session_id, serial=serial, request_id=request_id)
        return (await host.core.request(op)).session_id

    async def work(stop: StopRequest) -> ExitCode:
        return await pursue_new(settings, choose, begin, stop, options, request_id=request_id)

    end(run_async(work))
