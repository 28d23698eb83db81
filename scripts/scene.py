"""Set the scene of the pictures: days before today, jobs, and sessions at work and asking.

Only what is dated before today is made up; the sessions of today are real ones of the demo's pilot.
Invariant: whoever returns from here finds on the core what is to be seen.
"""

import asyncio
import random
from pathlib import Path

from agent.core import Core
from console.commands.demo import MESSAGE, SWITCHES

BOUND_S = 60.0


PAST_GOALS = (
    "order the weekly groceries and choose a slot in the evening",
    "answer the messages of the tenants",
    "put the train tickets into the calendar",
    "look for a table for four on Friday",
    "renew the library books",
    "save the photos of the meters to the house folder",
    "unsubscribe from the shop newsletters",
    "check in for the flight on Sunday and keep the pass",
    "tell the group that training moves to seven",
    "find out when the parcel comes",
    "turn off notifications of games on every phone",
)


async def fill_past(data_dir: Path) -> None:
    """Store sessions of the two weeks before today, with what a model would have used."""
    from agent.protocol import (
        SessionConfigured,
        SessionStateChanged,
        StepCompleted,
        VerificationRecorded,
    )
    from agent.records import (
        GoalVerdict,
        Session,
        SessionState,
        TimeSplit,
        Usage,
        Verification,
        VerifiedBy,
    )
    from agent.store.embedded.sqlite_store import EventDraft, SqliteStore
    from agent.store.store import wall_clock_ms

    dice = random.Random(7)
    async with SqliteStore.open(data_dir) as store:
        days = sorted((dice.randrange(1, 14) for _ in range(60)), reverse=True)
        for number, ago in enumerate(days):
            name = f"past{number:08x}"
            at_ms = wall_clock_ms() - ago * 86_400_000 + number * 60_000
            tokens = dice.randrange(20_000, 400_000)
            usage = Usage(input_tokens=tokens, output_tokens=tokens // 40, cost_usd=tokens * 2e-6)
            failed = dice.random() < 0.15
            state = SessionState.FAILED if failed else SessionState.COMPLETED
            goal = PAST_GOALS[number % len(PAST_GOALS)]
            session = Session(session_id=name, goal=goal, created_ms=at_ms)
            found = Verification(verified_by=VerifiedBy.VERIFIER, verdict=GoalVerdict.MET)
            is_judged = not failed and number % 9 > 0
            judged = [VerificationRecorded(verification=found)] if is_judged else []
            await store.append(
                EventDraft(name, SessionConfigured(session=session), dated_ms=at_ms),
                EventDraft(
                    name, StepCompleted(step=1, time=TimeSplit(), usage=usage), dated_ms=at_ms
                ),
                *(EventDraft(name, one, dated_ms=at_ms + 89_000) for one in judged),
                EventDraft(name, SessionStateChanged(state=state), dated_ms=at_ms + 90_000),
            )


WALL_GOALS = (
    SWITCHES,
    MESSAGE,
    "open Contacts, then open Messages, then open Notes, then open Calendar, then open Settings",
    "turn off Wi-Fi, then turn on Bluetooth, then turn on Dark theme, then turn on Battery Saver",
    "open Messages, then open Contacts, then open Settings, then open Notes, then open Calendar",
)


async def fill_wall(core: Core, serials: tuple[str, ...]) -> None:
    """Have sessions at work on every other phone, and wait until all have been seen to act."""
    from agent.protocol import SessionCreate

    for serial, goal in zip(serials[::2], WALL_GOALS, strict=False):
        await core.request(SessionCreate(goal=goal, serial=serial))
    async with asyncio.timeout(BOUND_S):
        while True:
            sessions = (await core.overview()).sessions
            if sum(session.last_step >= 3 for session in sessions) >= len(WALL_GOALS):
                return
            await asyncio.sleep(0.2)


async def plan_jobs(core: Core) -> None:
    """Store jobs that wake later than any picture is drawn."""
    from agent.protocol import JobCreate
    from agent.store.store import wall_clock_ms

    later_ms = wall_clock_ms() + 5 * 3_600_000
    for job in (
        JobCreate(title="What came in overnight", prompt="open Messages", cron="30 7 * * 1-5"),
        JobCreate(title="Look for the parcel", prompt="open Messages", next_run_at=later_ms),
        JobCreate(
            title="Clear what games notified",
            prompt="clear the notifications",
            next_run_at=later_ms,
            interval_ms=24 * 3_600_000,
        ),
    ):
        await core.request(job)


async def busy(core: Core, asking: str) -> None:
    """Wait until there is something to see: a question is open and another session is at work."""
    async with asyncio.timeout(BOUND_S):
        while True:
            overview = await core.overview()
            others = [s.steps for s in overview.sessions if s.session_id != asking]
            if overview.questions and max(others, default=0) >= 3:
                return
            await asyncio.sleep(0.2)


async def come_to_approval(core: Core, serial: str) -> None:
    """Answer the demo's question, wait for what it must not do unasked, and keep a phone busy."""
    from agent.protocol import SessionCreate, UserInputAnswer
    from agent.records import QuestionKind

    [asked] = (await core.overview()).questions
    answer = asked.options[0].label
    await core.request(UserInputAnswer(question_id=asked.question_id, answer=answer))
    begun = ""
    async with asyncio.timeout(BOUND_S):
        while True:
            overview = await core.overview()
            if any(one.kind is QuestionKind.APPROVAL for one in overview.questions):
                if not begun:
                    reply = await core.request(SessionCreate(goal=WALL_GOALS[2], serial=serial))
                    begun = reply.session_id
                elif any(s.session_id == begun and s.steps >= 1 for s in overview.sessions):
                    return
            await asyncio.sleep(0.2)
