"""`switchboard demo`: the console with agents at work on two virtual phones, offline.

Not a recording: the sessions are real ones of the offline pilot, over a real adb server. Invariant:
it lives in a data directory of its own and sees no phone but its own two.
"""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING

import click

from console.cli_support.exits import ExitCode, end, say

if TYPE_CHECKING:
    from agent.config import Settings
    from console.core.host import Host
    from console.terminal.signals import StopRequest

PHONES = 2
JOB_IN_MS = 10 * 60_000
JOB_EVERY_MS = 60 * 60_000

GOAL = "Get both phones ready for the evening"
SWITCHES = (
    "turn on Bluetooth, then turn on Dark theme, then turn off Wi-Fi, "
    "then turn on Do Not Disturb, then turn on Battery Saver"
)
# The phones' owner knows two people called Ben, so the pilot has to ask which one is meant.
MESSAGE = 'tell Ben "I will be ten minutes late"'
NOTE = 'write a note saying "milk and eggs"'
NOTES = "com.android.notes"
JOB = "open Messages"


@click.command(
    epilog="""\b
Examples:
  switchboard demo
  switchboard demo --fresh
  switchboard demo --fresh --profile tablet
"""
)
@click.option("--fresh", is_flag=True, help="Delete the data of earlier demos and start over.")
@click.option(
    "--profile",
    default="",
    metavar="NAME",
    help="What kind of phones; see 'switchboard phone serve --profile list'.",
)
@click.pass_context
def demo(ctx: click.Context, fresh: bool, profile: str) -> None:
    """Open the console on two virtual phones with agents already at work, offline.

    The demo resumes where the last one ended, also after a crash; --fresh starts over. It uses the
    directory 'demo' below the data directory; put --data-dir before other commands to read it.
    Needs the extra `demo`: pip install 'switchboard-console[demo]'.
    """
    from agent.devices.pool.virtual_command import virtual_phone_command
    from console.commands.console import need_a_terminal, show
    from console.core.device_setup import Devices
    from console.core.host import run_with_host

    virtual_phone_command()
    need_a_terminal("See the same without one: switchboard run GOAL --virtual.")
    settings = demo_settings(ctx)
    prepare(settings, fresh=fresh)
    devices = Devices(own_server=True, phones=PHONES, profile=profile, wakes_jobs=True)

    async def work(host: Host, stop: StopRequest) -> ExitCode:
        first = await begin(host) if host.owned else ""
        return await show(
            host.core,
            settings,
            stop,
            title="demo",
            focus_session=first,
            start_phone=host.start_phone,
        )

    say("Starting two virtual phones and an adb server for them.")
    end(run_with_host(settings, devices, work))


def demo_settings(ctx: click.Context) -> Settings:
    """Return the settings of the demo: the offline pilot, and a data directory of its own."""
    from msgspec.structs import replace

    from agent.config import PILOT
    from console.core.command_settings import settings_for

    settings = settings_for(ctx)
    return replace(
        settings,
        data_dir=settings.data_dir / "demo",
        model=replace(settings.model, name=PILOT, base_url=""),
    )


def prepare(settings: Settings, *, fresh: bool) -> None:
    """Delete what earlier demos left where `fresh` is set.

    Raises:
        UsageError: it is to be deleted while a demo is open.
    """
    from agent.errors import UsageError
    from agent.store.database.lock import owner_pid

    if not fresh:
        return
    pid = owner_pid(settings.data_dir)
    if pid is not None:
        raise UsageError(
            f"A demo is already running in process {pid}.",
            "Close it first, or join it without --fresh.",
        )
    if settings.data_dir.exists():
        shutil.rmtree(settings.data_dir)


async def begin(host: Host) -> str:
    """Start the sessions and the job of the demo, or what is missing of them.

    The core creates a session once for each request id, and the job comes last: a demo that was
    killed between two of them is completed, and one that has its job resumes as the core left it.

    Returns:
        The session that will ask something, which is the one to look at; empty for a demo that
        resumes, where the Deck chooses.
    """
    from agent.protocol import JobCreate, SessionCreate, Target

    core = host.core
    before = await core.overview()
    if before.jobs:
        say("Resuming the demo. To start over: switchboard demo --fresh")
        return ""
    first, second = await host.own_phones()
    tree = await core.request(
        SessionCreate(
            goal=GOAL,
            targets=(
                Target(objective=SWITCHES, serial=first),
                Target(objective=MESSAGE, serial=second),
            ),
            request_id="demo-tree",
        )
    )
    # It waits in the queue until one of the phones is free.
    await core.request(SessionCreate(goal=NOTE, target_package=NOTES, request_id="demo-note"))
    await core.request(
        JobCreate(
            title="Hourly look at the messages",
            prompt=JOB,
            serial=second,
            next_run_at=round(time.time() * 1000) + JOB_IN_MS,
            interval_ms=JOB_EVERY_MS,
        )
    )
    return tree.child_ids[1]
