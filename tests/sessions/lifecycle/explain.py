"""What is known of a difference between the model and the core, for whoever has to explain it.

Not the comparison. Invariant: it reads only, so what it tells of is what the comparison saw.
"""

import asyncio
import time
from collections.abc import Iterable

import msgspec

from agent.errors import SwitchboardError
from tests.sessions.lifecycle.world import World

_STEPS = 15
_EVENTS = 30
_LONGEST = 300


class Difference(AssertionError):
    """The core is not where the model says."""


class Log:
    """What was played, when, and how long the core took to come to rest."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._lines: list[str] = []

    def note(self, what: str) -> None:
        self._lines.append(f"{time.monotonic() - self._began:9.3f} {what}")

    def newest(self) -> list[str]:
        return self._lines[-_STEPS:]


async def explained(world: World, log: Log, wrong: Iterable[str], *, looks: int) -> str:
    """Tell all that bears on a difference: steps with times, facts of the sessions, tasks."""
    wrong = list(wrong)
    lines = [*wrong, f"after {looks} looks", "--- steps"]
    lines += log.newest()
    named = " ".join(wrong)
    for session_id, record in (await world.sessions()).items():
        if session_id not in named:
            continue
        lines += [f"--- session {session_id}", _short(msgspec.json.encode(record).decode())]
        try:
            events = await world.store.session_events(session_id)
        except SwitchboardError as error:
            lines.append(f"its events cannot be read: {error}")
            continue
        for event in events[-_EVENTS:]:
            told = msgspec.json.encode(event.msg).decode()
            lines.append(_short(f"{event.event_id} {event.ts_ms} {told}"))
    lines.append("--- phones")
    lines += [f"{info}" for info in world.fleet.devices()]
    lines.append("--- tasks")
    lines += sorted(_short(repr(task)) for task in asyncio.all_tasks() if "session" in repr(task))
    return "\n".join(lines)


def _short(line: str) -> str:
    return line if len(line) <= _LONGEST else line[:_LONGEST] + "…"
