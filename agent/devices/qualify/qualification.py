"""Qualify a phone: try every way to it, and make its passport of what was seen.

Looking at it and asking it facts go side by side; what touches it comes after both, and only where
the facts say that it may be touched. Invariants: rows are told as they come; a phone whose shell
does not answer is asked nothing else, and gets no choices.
"""

import asyncio
import time
from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager

from agent.devices.passport.choosing import choose
from agent.devices.passport.passport import Area, Choices, Outcome, Passport, Row, TreeWay
from agent.devices.qualify.capture_probes import CaptureProbes
from agent.devices.qualify.conditions import Conditions
from agent.devices.qualify.fact_probes import FactProbes
from agent.devices.qualify.harmless_place import HarmlessPlace, Launch
from agent.devices.qualify.input_probes import InputProbes
from agent.devices.qualify.link_probes import shell_probe, throughput_probe
from agent.devices.qualify.phone_parts import PhoneParts
from agent.devices.qualify.probe import Examination, OnRows, Probe, unknown, works
from agent.devices.qualify.text_probes import TextProbes
from agent.devices.qualify.tree_probes import TreeProbes

BUDGET_S = 300.0
_SOON_S = 1.5
_WAKE_TIMEOUT_S = 10.0
_LEAVE_TIMEOUT_S = 30.0


async def qualify(
    parts: PhoneParts,
    *,
    reached_by: str,
    driving: AbstractAsyncContextManager[object],
    launch: Launch,
    on_rows: OnRows,
    budget_s: float = BUDGET_S,
) -> Passport:
    """Try everything, and return the passport; it is not stored.

    Args:
        reached_by: what is known of the phone without asking it, for the first row.
        driving: holds the phone's lease; entered after the first row.
        launch: brings the app that was in front there again.
        on_rows: called with the rows of each probe as they come.
    """
    made_ms = time.time_ns() // 1_000_000
    examination = Examination(on_rows, budget_s)
    examination.tell(works(Area.LINK, "adb", reached_by))
    (shell,) = await examination.one(shell_probe(parts.shell))
    answers = shell.outcome is not Outcome.UNKNOWN and not examination.lost
    if answers:
        async with driving:
            await _everything(parts, examination, launch)
    else:
        examination.tell(unknown(Area.LINK, "everything else", "the shell does not answer"))
    return await _passport(parts, examination, made_ms, answers=answers)


async def _everything(parts: PhoneParts, examination: Examination, launch: Launch) -> None:
    conditions = Conditions()
    facts = FactProbes(parts.shell, conditions).probes()
    asking = asyncio.create_task(examination.side_by_side(facts), name=f"facts of {parts.serial}")
    # Facts that come soon disturb no time that is taken, and say whether the screen is off.
    await asyncio.wait({asking}, timeout=_SOON_S)
    place = HarmlessPlace(parts, conditions.before(), launch)
    try:
        if not conditions.why_not_touch():
            await examination.one(Probe(Area.INPUT, "wake", _WAKE_TIMEOUT_S, place.wake))
        await examination.in_turn(
            (
                throughput_probe(parts.shell),
                *CaptureProbes(parts).probes(),
                *TreeProbes(parts).probes(),
            )
        )
        await asking
        await _touch(parts, examination, conditions, place)
    finally:
        asking.cancel()
        if place.is_changed:
            leaving = Probe(Area.INPUT, "left as found", _LEAVE_TIMEOUT_S, place.leave)
            await examination.one(leaving, beyond_budget=True)


async def _touch(
    parts: PhoneParts, examination: Examination, conditions: Conditions, place: HarmlessPlace
) -> None:
    touches, typing = InputProbes(parts, place).probes(), TextProbes(parts, place)
    if why := conditions.why_not_touch() or _why_unseen(examination.rows):
        rows = (unknown(one.area, one.name, f"not tried: {why}") for one in touches)
        examination.tell(*rows, *typing.untried(why))
        return
    await examination.in_turn(touches)
    await typing.run(examination)


def _why_unseen(rows: Iterable[Row]) -> str:
    """Return why no effect could be seen; empty where a UI tree can be read."""
    ways = {row.name for row in rows if row.area is Area.TREE and row.outcome is Outcome.WORKS}
    return "" if ways & set(TreeWay) else "no UI tree can be read, so no effect could be seen"


async def _passport(
    parts: PhoneParts, examination: Examination, made_ms: int, *, answers: bool
) -> Passport:
    rows = tuple(examination.rows)
    if not answers:
        return Passport(
            serial=parts.serial,
            phone=parts.serial,
            fingerprint="",
            made_ms=made_ms,
            took_ms=examination.took_ms,
            rows=rows,
            choices=Choices(),
        )
    profile = await parts.shell.profile()
    return Passport(
        serial=parts.serial,
        phone=profile.phone or parts.serial,
        fingerprint=profile.fingerprint,
        maker=profile.maker,
        model=profile.model,
        android=profile.android,
        made_ms=made_ms,
        took_ms=examination.took_ms,
        rows=rows,
        choices=choose(rows),
    )
