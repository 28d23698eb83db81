"""Write a session, or one step with all that was stored of it, as plain text for a file.

Pure but for the core it reads a step's record from. Invariants: what a person reads here is what
the transcript says, so a secret answer is dots here as well; nothing is cut that the store has.
"""

import asyncio
from collections.abc import Iterator

from agent.state.reducer import SessionView, StepItem
from agent.text import one_line
from console.steps.step_reading import WHOLE_CHARS, Source, read_part
from console.steps.step_record import Part, StepRecord
from widgets.base import formatting, status
from widgets.lists.session_rows import session_title
from widgets.transcript.transcript_lines import as_text

_RULE = "-" * 72


async def session_text(view: SessionView) -> str:
    """Write all of a session's transcript."""
    # A long one takes seconds; what it is made of never changes, so a thread may read it.
    return await asyncio.to_thread(lambda: "\n".join(_session_lines(view)) + "\n")


def _session_lines(view: SessionView) -> Iterator[str]:
    yield from _head(view)
    for planned in view.session.plan:
        mark = status.PLAN[planned.status]
        yield f"plan  {mark.glyph} {one_line(planned.step, 400)}"
    for item in view.transcript.items:
        yield ""
        yield as_text(item)


async def step_text(source: Source, view: SessionView, step: StepItem, record: StepRecord) -> str:
    """Write one step with its screen, prompt and reply."""
    lines = [*_head(view), "", as_text(step)]
    for part in Part:
        parts = await read_part(source, record, part, WHOLE_CHARS)
        lines += ["", _RULE, part.value, _RULE, "".join(text for text, _ in parts).rstrip()]
    return "\n".join(lines) + "\n"


def _head(view: SessionView) -> Iterator[str]:
    session = view.session
    mark = status.of_session(session)
    yield f"{session_title(session)}"
    facts = [f"session {one_line(session.session_id, 80)}", f"{mark.glyph} {mark.word}"]
    if session.serial:
        facts.append(f"on {one_line(session.serial, 80)}")
    if spent := formatting.cost(session.usage):
        facts.append(spent)
    yield " · ".join(facts)
