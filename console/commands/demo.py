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
    from agent.core import Core
    from console.host import Host
    from console.stopping import StopRequest

PHONES = 2
JOB_IN_MS = 10 * 60_000
JOB_EVERY_MS = 60 * 60_000

GOAL = "Get both phones ready for the evening"
BLUETOOTH = "open Settings and turn on Bluetooth"
NOTE = 'write a note saying "milk and eggs"'
QUESTION = "open Messages and open the conversation"
JOB = "open Messages and read the newest message"


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

    Everything is kept below the data directory's 'demo' folder; what earlier demos did can be
    replayed. Phones start as they left the factory each time.
    """
    from console.commands.console import need_a_terminal
    from console.host import run_with_host
    from console.rack import Devices

    need_a_terminal("See the same without one: switchboard run GOAL --virtual")
    settings = demo_settings(ctx)
    prepare(settings, fresh=fresh)
    devices = Devices(own_server=True, phones=PHONES, wakes_jobs=True)

    async def work(host: Host, stop: StopRequest) -> ExitCode:
        from console.app import run_console

        first = await begin(host.core) if host.owned else ""
        failed = await run_console(host.core, settings=settings, title="demo", focus_session=first)
        return ExitCode.FAILED if failed else ExitCode.DONE

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


async def begin(core: Core) -> str:
    """End what an earlier demo left, set this one's sessions and job going, and name the first."""
    from agent.protocol import JobCreate, JobStop, SessionCancel, SessionCreate, Target

    before = await core.overview()
    for session in before.sessions:
        if not session.state.is_terminal and not session.parent_id:
            await core.request(SessionCancel(session_id=session.session_id))
    for job in before.jobs:
        await core.request(JobStop(job_id=job.id))
    first, second = [info.serial for info in before.devices if info.virtual][:PHONES]
    tree = await core.request(
        SessionCreate(
            goal=GOAL,
            targets=(
                Target(objective=BLUETOOTH, serial=first),
                Target(objective=NOTE, serial=second),
            ),
        )
    )
    await core.request(SessionCreate(goal=QUESTION, serial=first))
    await core.request(
        JobCreate(
            title="Hourly look at the messages",
            prompt=JOB,
            serial=second,
            next_run_at=round(time.time() * 1000) + JOB_IN_MS,
            interval_ms=JOB_EVERY_MS,
        )
    )
    return tree.session_id
