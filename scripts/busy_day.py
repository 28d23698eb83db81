"""Set the scene of a busy day: twelve virtual phones, fifty sessions, and yesterday's film.

A daemon is left running on a data directory, to walk the console on: ten questions and five
approvals wait, a job has failed, and one phone is away. Every session of today and yesterday is a
real one of the offline pilot; yesterday's ran with its core's clock a day back.

`python scripts/busy_day.py DIR`, then `switchboard --data-dir DIR`; `switchboard --data-dir DIR
daemon stop` ends it.
"""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from msgspec.structs import replace

from agent.config import load_settings
from agent.core import Core, Overview
from agent.protocol import JobCreate, JobPause, SessionCreate, Target
from agent.records import SessionState
from agent.rpc.remote_core import connect_or_none
from agent.settings import Settings
from agent.store.store import wall_clock_ms
from scripts.scene import fill_past, plan_jobs

PHONES = 12
SESSIONS = 50
QUESTIONS = 10
DRAFTS = 5
YESTERDAY = (
    'write a note saying "the meter reads 4711"',
    "turn on Battery Saver, then turn on Dark theme",
    "open Contacts, then open Calendar",
)
ERRANDS = (
    "turn on Bluetooth",
    "open Contacts, then open Calendar",
    'write a note saying "milk and eggs"',
    "call the plumber",
    "turn on Dark theme",
)
REVIEWED_JOBS = 3
SETTINGS = """\
[model]
name = "pilot"

[run]
answer_timeout_s = 86400.0

[jobs]
review_timeout_s = 86400.0
"""
OVER = (SessionState.COMPLETED, SessionState.FAILED)
_DAY_MS = 24 * 3_600_000
_BOUND_S = 900.0
_LOOK_S = 0.5


async def live_yesterday(settings: Settings) -> None:
    """Run yesterday's sessions on a core whose clock is a day back."""
    from agent.models.choice import model_for
    from agent.models.reviewers.reviewer_choice import reviewing_for
    from agent.models.verifier_choice import verifying_for
    from agent.runtime.runtime import Runtime
    from agent.store.embedded.sqlite_store import SqliteStore
    from agent.tasks.plan import PlanTask
    from agent.tasks.regular import RegularTask
    from console.core.device_setup import VIRTUAL, Phones, make_fleet

    def clock() -> int:
        return wall_clock_ms() - _DAY_MS

    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(SqliteStore.open(settings.data_dir, clock_ms=clock))
        phones = Phones(settings)
        stack.push_async_callback(phones.close)
        core = await Runtime.spawn(
            settings,
            store=store,
            fleet=await make_fleet(settings, VIRTUAL, phones, is_owner=True),
            models=lambda session: model_for(session, settings),
            verifiers=lambda model, session: verifying_for(model, settings, session),
            reviewers=lambda model, session: reviewing_for(model, settings, session),
            task=RegularTask,
            plan=PlanTask,
            clock=clock,
            wake_jobs=False,
        )
        stack.push_async_callback(core.close)
        for goal in YESTERDAY:
            name = await begin(core, goal)
            await until(core, f"the end of “{goal}”", partial(is_over, name))


async def fill_today(core: Core) -> None:
    """Have fifty sessions of today: ended, of a tree, reviewed jobs', asking, waiting, drafts."""
    before = len((await core.overview()).sessions)
    await until(core, "the phones", lambda now: len(now.devices) == PHONES)
    serials = sorted(one.serial for one in (await core.overview()).devices)
    children = tuple(Target(objective=ERRANDS[0], serial=serial) for serial in serials[:6])
    tree = await core.request(
        SessionCreate(goal="Turn on Bluetooth on every phone of the first shelf", targets=children)
    )
    errands = [
        await begin(core, ERRANDS[number % len(ERRANDS)], serials[number % PHONES])
        for number in range(12)
    ]
    await until(core, "the errands", lambda now: are_over(now, tree.session_id, *errands))
    for number in range(REVIEWED_JOBS):
        words = f'tell Ana "Good morning {number + 1}"'
        await core.request(JobCreate(title=f"Good morning {number + 1}", prompt=words))
    await core.request(JobCreate(title="Look into Frobnicator", prompt="open Frobnicator"))
    await until(
        core,
        "the jobs",
        lambda now: (
            len(now.questions) == REVIEWED_JOBS and any(job.failure_count for job in now.jobs)
        ),
    )
    # So that it waits for the operator, and is not tried again meanwhile.
    [failing] = [job.id for job in (await core.overview()).jobs if job.failure_count]
    await core.request(JobPause(job_id=failing))
    # A session that asks holds its phone: one on each.
    for number, serial in enumerate(serials[:QUESTIONS]):
        await begin(core, f'tell Ben "I will be {number + 5} minutes late"', serial)
    for number, serial in enumerate(serials[QUESTIONS:]):
        await begin(core, f'tell Ana "See you at {number + 1}"', serial)
    asked = REVIEWED_JOBS + PHONES
    await until(core, "the questions", lambda now: len(now.questions) == asked)
    left = SESSIONS - (len((await core.overview()).sessions) - before)
    for number in range(left):
        await begin(core, ERRANDS[number % len(ERRANDS)], start=number >= DRAFTS)


async def begin(core: Core, goal: str, serial: str = "", *, start: bool = True) -> str:
    """Begin a session, or leave a draft of it; return its id."""
    reply = await core.request(SessionCreate(goal=goal, serial=serial, start=start))
    return reply.session_id


def is_over(name: str, now: Overview) -> bool:
    return are_over(now, name)


def are_over(now: Overview, *names: str) -> bool:
    states = {one.session_id: one.state for one in now.sessions}
    return all(states[name] in OVER for name in names)


async def until(core: Core, what: str, holds: Callable[[Overview], bool]) -> None:
    """Wait until something holds, and say what for."""
    print(f"Waiting for {what}.", flush=True)
    async with asyncio.timeout(_BOUND_S):
        while True:
            if holds(await core.overview()):
                return
            await asyncio.sleep(_LOOK_S)


async def join_and_fill(settings: Settings) -> None:
    """Attach to the daemon and fill today."""
    core = await connect_or_none(settings, name="busy day")
    if core is None:
        raise SystemExit("The daemon does not answer; see its log.")
    try:
        await plan_jobs(core)
        await fill_today(core)
    finally:
        await core.close()


def set_scene(data_dir: Path) -> list[str]:
    """Set the scene in a directory that does not exist yet; return the command that opens it."""
    data_dir.mkdir(parents=True, mode=0o700)
    config = data_dir / "config.toml"
    config.write_text(SETTINGS)
    command = [sys.executable, "-m", "console", f"--config={config}", f"--data-dir={data_dir}"]
    settings = replace(load_settings(config_file=config), data_dir=data_dir)
    asyncio.run(fill_past(data_dir))
    asyncio.run(live_yesterday(settings))
    start = ["daemon", "start", f"--phones={PHONES}", "--virtual-only"]
    subprocess.run([*command, *start], check=True)
    asyncio.run(join_and_fill(settings))
    return command


def main() -> None:
    """Set the scene in the directory that is named, and leave its daemon running."""
    if len(sys.argv) != 2:
        raise SystemExit("Usage: python scripts/busy_day.py DIR (it must not exist yet)")
    command = set_scene(Path(sys.argv[1]).absolute())
    print("Open it:", *command)
    print("End it: ", *command, "daemon stop")


if __name__ == "__main__":
    main()
