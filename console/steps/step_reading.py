"""Read the record of a step from a core: its events, then its screen, prompt and reply.

Not the writing of it (`console.steps.step_record`). Invariant: what is gone from the store is said
to be gone in the place where it would stand.
"""

from typing import Protocol

from agent.errors import SwitchboardError
from agent.protocol import Event, StepStarted
from console.steps.step_record import (
    MOST_CHARS,
    Part,
    StepRecord,
    blob_parts,
    record_at,
    tree_parts,
)
from widgets.base.rows import Parts

_PAGE = 200
_MOST_EVENTS = 5_000  # Of one step; a step that tells more is read as far as that.
WHOLE_CHARS = 50_000_000  # Of a part that is read whole, for a file.


class Source(Protocol):
    """What records are read from; every Core is one."""

    async def history(
        self, session_id: str, *, after_seq: int = 0, before_seq: int = 0, limit: int = 10_000
    ) -> tuple[Event, ...]: ...

    async def blob(self, digest: str) -> bytes: ...


async def find_record(source: Source, session_id: str, started_seq: int) -> StepRecord:
    """Read the step that begins with an event, as far as it has come.

    Args:
        source: a core.
        session_id: whose step.
        started_seq: the seq of its `StepStarted`.
    """
    events: list[Event] = []
    while len(events) < _MOST_EVENTS:
        last = events[-1].seq if events else started_seq - 1
        page = await source.history(session_id, after_seq=last, limit=_PAGE)
        for event in page:
            if isinstance(event.msg, StepStarted) and event.seq != started_seq:
                return record_at(events, len(events))
            events.append(event)
        if len(page) < _PAGE:
            break
    return record_at(events, len(events))


async def read_part(
    source: Source, record: StepRecord, part: Part, most_chars: int = MOST_CHARS
) -> Parts:
    """Read one part of a step's record, written for reading; a sentence where there is none."""
    if part is Part.TREE:
        return tree_parts(record)
    digest = record.digest_of(part)
    if not digest:
        said = "Nothing of it was stored." if record.is_whole else "This step has none yet."
        return ((said, "$faint"),)
    try:
        return blob_parts(await source.blob(digest), most_chars)
    except SwitchboardError as error:
        return ((error.message, "$warn"),)
