"""`switchboard demo`: the console with agents at work on two virtual phones, offline.

Not a recording: the sessions are real ones of the offline pilot, over a real adb server. Invariant:
it lives in a data directory of its own and sees no phone but its own two.
"""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING

import click

from console.exits import ExitCode, end, say

if TYPE_CHECKING:
    from agent.config import Settings
    from console.host import Host
    from console.stopping import StopRequest

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
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="""\b
Examples:
  switchboard demo
  switchboard demo --fresh
""",
)
@click.option("--fresh", is_flag=True, help="Forget earlier demos first.")
@click.pass_context
def demo(ctx: click.Context, fresh: bool) -> None:
    """Open the console on two virtual phones with agents already at work, offline.

    Everything is kept in a data directory of its own, 'demo' below the data directory; what earlier
    demos did can be replayed, and other commands see it with --data-dir before their name. Phones
    start as they left the factory each time.
    """
    from console.commands.console import need_a_terminal, show
    from console.host import run_with_host
    from console.rack import Devices

    need_a_terminal("See the same without one: switchboard run GOAL --virtual.")
    settings = demo_settings(ctx)
    prepare(settings, fresh=fresh)
    devices = Devices(own_server=True, phones=PHONES, wakes_jobs=True)

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
    """Give the settings of the demo: the offline pilot, and a data directory of its own."""
    from msgspec.structs import replace

    from agent.config import PILOT
    from console.setup import settings_for

    settings = settings_for(ctx)
    return replace(
        settings,
        data_dir=settings.data_dir / "demo",
        model=replace(settings.model, name=PILOT, base_url=""),
    )


def prepare(settings: Settings, *, fresh: bool) -> None:
    """Put the phones back to how they left the factory; with `fresh`, forget everything.

    Does nothing while a demo is open elsewhere: this one then joins it.
    """
    from agent.store.lock import owner_pid

    if owner_pid(settings.data_dir) is not None:
        return
    if fresh and settings.data_dir.exists():
        shutil.rmtree(settings.data_dir)
    for state in settings.data_dir.glob("phones/*/phone.json"):
        state.unlink()


async def begin(host: Host) -> str:
    """End what an earlier demo left, and set the sessions and the job of this one going.

    Returns:
        The session that will ask something, which is the one to look at.
    """
    from agent.protocol import JobCreate, JobStop, SessionCancel, SessionCreate, Target

    core = host.core
    before = await core.overview()
    for session in before.sessions:
        if not session.state.is_terminal and not session.parent_id:
            await core.request(SessionCancel(session_id=session.session_id))
    for job in before.jobs:
        await core.request(JobStop(job_id=job.id))
    first, second = await host.own_phones()
    tree = await core.request(
        SessionCreate(
            goal=GOAL,
            targets=(
                Target(objective=SWITCHES, serial=first),
                Target(objective=MESSAGE, serial=second),
            ),
        )
    )
    # It waits in the queue until one of the phones is free.
    await core.request(SessionCreate(goal=NOTE, target_package=NOTES))
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
