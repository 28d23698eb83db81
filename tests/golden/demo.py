"""What the demo does by itself, session by session, until nothing is left but its question.

Everything is real but the console, which nobody looks at: the demo's own sessions of the pilot, two
virtual phones and an adb server. Sessions work at once, so each is told by itself, by its goal.
"""

import asyncio
from pathlib import Path
from typing import Any

from agent.config import PILOT, load_settings
from agent.records import Session, SessionState
from bench.exercises.house import House, house
from console.commands.demo import MESSAGE, NOTE, PHONES, SWITCHES, begin
from tests.golden.exercises import line_of

_BOUND_S = 240.0
_LOOK_S = 0.05


class _Host:
    """What the demo is begun with: a core and its phones."""

    def __init__(self, stands: House) -> None:
        self.core = stands.core
        self._serials = stands.serials

    async def own_phones(self) -> list[str]:
        return list(self._serials)


async def demo(folder: Path) -> str:
    """Return a line for each event of each session; ids, times and numbers are taken out."""
    settings = load_settings(overrides={"data_dir": str(folder / "data"), "model.name": PILOT})
    async with house(folder, settings, phones=PHONES) as stands:
        host: Any = _Host(stands)
        await begin(host)
        async with asyncio.timeout(_BOUND_S):
            while not await _rests(stands):
                await asyncio.sleep(_LOOK_S)
        return "\n".join([await _summary_of(stands, one) for one in await _sessions(stands)])


async def _sessions(stands: House) -> list[Session]:
    return sorted((await stands.core.overview()).sessions, key=lambda one: one.goal)


async def _rests(stands: House) -> bool:
    """Return whether what asks nothing is done, and the message has asked whom it is for."""
    overview = await stands.core.overview()
    by_goal = {one.goal: one for one in overview.sessions}
    if not {SWITCHES, MESSAGE, NOTE} <= by_goal.keys():
        return False
    done = all(by_goal[goal].state is SessionState.COMPLETED for goal in (SWITCHES, NOTE))
    asking = {question.session_id for question in overview.questions}
    return done and by_goal[MESSAGE].session_id in asking


async def _summary_of(stands: House, session: Session) -> str:
    events = await stands.core.history(session.session_id)
    return "\n".join([f"== {session.goal}", *(line_of(event.msg) for event in events)])
