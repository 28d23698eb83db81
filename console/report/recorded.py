"""Read one stored session whole, for what is made of it: its record, its items, its observations.

Not the making. Invariant: what a report shows is the fold of the stored events, as the replay is.
"""

from typing import NamedTuple, Protocol

from agent.protocol import AgentMessage, Event, ObservationRecorded, ToolCallRequested
from agent.records import Element, Frame, Observation, Session
from agent.state.reducer import StepItem, Transcript
from agent.state.transcript import follow

PAGE = 5_000


class Source(Protocol):
    """What a session is read from; every Core and every open store is one."""

    async def session(self, session_id: str) -> Session: ...

    async def history(
        self, session_id: str, *, after_seq: int = 0, before_seq: int = 0, limit: int = 10_000
    ) -> tuple[Event, ...]: ...

    async def blob(self, digest: str) -> bytes: ...


class RecordedAction(NamedTuple):
    """One tool call as it was chosen, on the screen it was chosen on."""

    step: int
    tool: str
    kind: str
    arguments: str
    element: Element | None
    package: str
    seq: int = 0  # The event that chose it.
    thought: str = ""  # What the model said beside it.
    frame: Frame | None = None  # The screen it was chosen on, where that was kept.


class RecordedSession(NamedTuple):
    """One session, whole."""

    session: Session
    events: tuple[Event, ...]
    transcript: Transcript
    steps: tuple[StepItem, ...]
    acts: tuple[RecordedAction, ...]


async def read_events(source: Source, session_id: str) -> tuple[Event, ...]:
    """Read all stored events of a session, in order."""
    events: list[Event] = []
    while page := await source.history(
        session_id, after_seq=events[-1].seq if events else 0, limit=PAGE
    ):
        events += page
        if len(page) < PAGE:
            break
    return tuple(events)


async def read_recorded(source: Source, session_id: str) -> RecordedSession:
    """Read a session. Raises UsageError for an unknown one."""
    session = await source.session(session_id)
    return told_of(session, await read_events(source, session.session_id))


def told_of(session: Session, events: tuple[Event, ...]) -> RecordedSession:
    """Fold a session's events."""
    transcript = Transcript()
    for event in events:
        transcript = follow(transcript, event)
    steps = tuple(item for item in transcript.items if isinstance(item, StepItem))
    return RecordedSession(session, events, transcript, steps, acts_of(events))


def acts_of(events: tuple[Event, ...]) -> tuple[RecordedAction, ...]:
    """List the tool calls, each with the screen it was chosen on and what was said beside it."""
    acts: list[RecordedAction] = []
    seen: Observation | None = None
    thought: tuple[int, str] = (0, "")
    for event in events:
        match event.msg:
            case ObservationRecorded(observation=seen):
                pass
            case AgentMessage(step=step, text=text):
                thought = (step, text)
            case ToolCallRequested() as call:
                act = RecordedAction(
                    call.step,
                    call.tool,
                    call.kind,
                    call.arguments,
                    call.element,
                    package=seen.foreground.package if seen is not None else "",
                    seq=event.seq,
                    thought=thought[1] if thought[0] == call.step else "",
                    frame=seen.frame if seen is not None else None,
                )
                acts.append(act)
            case _:
                pass
    return tuple(acts)
